"""Exports of a model of 1.9 GB into a data file, and to safetensors, against cp of the same.

All new files are on the disk when the clock stops, by `sync FILE` after cp and by the export itself, which also reads
back what it wrote.
"""

import os
import shutil

from . import caches, models
from .commits import seconds
from .report import Limit, Row
from .rounds import interleave

AS_FAST = [Limit("ratio", "at least", 0.8)]


def rows(bench):
    model = models.raw(bench.models)
    for words in (["--external"], ["--safetensors"]):
        yield export(bench, model, words)


def export(bench, model, words):
    what = f"export {' '.join(words)}, {model.title}"
    bench.say(what)
    folder = os.path.join(bench.models, "export")
    size = os.path.getsize(model.path)

    def anew(command):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        caches.warm(model.path)
        os.sync()
        return size / seconds(command)

    def ours():
        return anew([bench.onnxfs, "export", model.path, os.path.join(folder, "out"), *words])

    def cp():
        return anew(["sh", "-c", 'cp "$1" "$2" && sync "$2"', "sh", model.path, os.path.join(folder, "copy")])

    try:
        exported, copied = interleave(bench.rounds(3, 7), ours, cp)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Row(what, "bytes/second", exported, "cp and sync", copied, limits=AS_FAST)
