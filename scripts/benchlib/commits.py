"""Commits of one small edit: into the files of a model of 6 GB, and as a new file of 1.9 GB against cp of the same.

Both new files are on the disk when the clock stops, by `sync FILE` after cp and by the commit itself, which also reads
back what it wrote. Both take the place of an older one, whose 1.9 GB are given back.
"""

import itertools
import os
import shutil
import time

from . import caches, models, mounts
from .processes import run
from .report import Limit, Row
from .rounds import interleave

AT_ONCE = [Limit("value", "at most", 0.05)]
AS_FAST = [Limit("ratio", "at least", 0.8)]


def seconds(command):
    start = time.perf_counter()
    run(command)
    return time.perf_counter() - start


class Editor:
    """Leaves a small edit in a model's sidecar, a different one each time."""

    def __init__(self, bench, model):
        self.bench, self.model, self.numbers = bench, model, itertools.count(1)

    def edit(self):
        with mounts.onnxfs(self.bench, self.model.path) as server:
            with open(f"{server.place}/initializers/{self.model.probe}.bin", "r+b", buffering=0) as file:
                file.seek(4097)
                file.write(next(self.numbers).to_bytes(4, "little"))


def rows(bench):
    yield in_place(bench)
    yield anew(bench)


def in_place(bench):
    model = models.external(bench.models)
    bench.say(f"commit --in-place, {model.title}")
    editor = Editor(bench, model)

    def commit():
        editor.edit()
        os.sync()
        return seconds([bench.onnxfs, "commit", model.path, "--in-place"])

    samples = [commit() for _ in range(bench.rounds(5, 21))]
    return Row(f"commit --in-place of a small edit, {model.title}", "seconds", samples, limits=AT_ONCE)


def anew(bench):
    original = models.raw(bench.models)
    bench.say(f"commit, {original.title}")
    folder = os.path.join(bench.models, "commit")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        model = models.Model(shutil.copy(original.path, folder), original.title, original.probe)
        copy = shutil.copy(original.path, os.path.join(folder, "copy"))
        size = os.path.getsize(model.path)
        editor = Editor(bench, model)

        def commit():
            editor.edit()
            caches.warm(model.path)
            os.sync()
            return size / seconds([bench.onnxfs, "commit", model.path])

        def cp():
            caches.warm(model.path)
            os.sync()
            replacing = 'cp "$1" "$2.new" && sync "$2.new" && mv "$2.new" "$2"'
            return size / seconds(["sh", "-c", replacing, "sh", model.path, copy])

        ours, theirs = interleave(bench.rounds(3, 7), commit, cp)
    finally:
        shutil.rmtree(folder)
    return Row(f"commit of a small edit, {original.title}", "bytes/second", ours, "cp, sync and mv", theirs, limits=AS_FAST)
