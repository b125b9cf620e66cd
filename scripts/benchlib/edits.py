"""Writes into a tensor of 1 GiB, in place.

A small edit is held against the same one in a plain file of that size on the same disk; a full overwriting against the
same through passthrough_ll, libfuse's own example of a file system that stores what it is given. That one writes over
blocks that its file has, while onnxfs appends to a sidecar that has none yet: each round starts without one.
"""

import itertools
import os
import shutil

from . import models, mounts
from .processes import StepFailed, run
from .programs import EXAMPLES
from .report import Failure, Limit, Row
from .rounds import interleave

SMALL_EDITS = [Limit("ratio", "at most", 3)]
FEW_BYTES = [Limit("value", "at most", 65536)]
AS_FAST = [Limit("ratio", "at least", 0.8)]


def written(bench, way, file, number):
    """The seconds that it took."""
    return int(run([bench.program("writer"), way, file, number])) / 1e9


def size_on_disk(folder):
    files = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    return sum(os.stat(file).st_blocks * 512 for file in [folder, *files])


def discard(bench, model):
    if os.path.exists(model.sidecar):
        run([bench.onnxfs, "discard", model.path])


def rows(bench):
    model = models.gigabyte(bench.models)
    folder = os.path.join(bench.models, "plain-edits")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        discard(bench, model)
        plain = os.path.join(folder, "f")
        models.write_noise(plain, models.GIGABYTE)
        yield from small_edits(bench, model, plain)
        yield from overwriting(bench, model, folder)
    finally:
        discard(bench, model)
        shutil.rmtree(folder)


def small_edits(bench, model, plain):
    bench.say(f"small edits, {model.title}")
    # Far apart, and aligned to nothing.
    offsets = (k * 104_729_003 % (models.GIGABYTE - 4) for k in itertools.count(1))
    growth = []
    with mounts.onnxfs(bench, model.path) as server:
        tensor = f"{server.place}/initializers/{model.probe}.bin"

        def through_the_mount():
            before = size_on_disk(model.sidecar) if os.path.exists(model.sidecar) else 0
            seconds = written(bench, "small", tensor, next(offsets))
            growth.append(size_on_disk(model.sidecar) - before)
            return seconds

        def into_a_file():
            return written(bench, "small", plain, next(offsets))

        os.sync()
        ours, theirs = interleave(bench.rounds(11, 41), through_the_mount, into_a_file)
    yield Row(f"4 bytes written and fsynced, {model.title}", "seconds", ours, "plain file", theirs, limits=SMALL_EDITS)
    yield Row(f"growth of the sidecar by the first 4 bytes, {model.title}", "bytes", growth[:1], limits=FEW_BYTES)


def overwriting(bench, model, folder):
    for way, end in (("sequential", ""), ("synced", ", with fsync")):
        what = f"overwriting with 1 MiB writes{end}, {model.title}"
        if not os.path.exists(os.path.join(EXAMPLES, "passthrough_ll.c")):
            yield Failure(what, f"{EXAMPLES} has no passthrough_ll.c")
            continue
        bench.say(what)

        def through_the_mount():
            discard(bench, model)
            os.sync()
            with mounts.onnxfs(bench, model.path) as server:
                file = f"{server.place}/initializers/{model.probe}.bin"
                return models.GIGABYTE / written(bench, way, file, models.GIGABYTE)

        def through_passthrough():
            os.sync()
            with mounts.passthrough(bench, folder) as server:
                return models.GIGABYTE / written(bench, way, f"{server.place}/f", models.GIGABYTE)

        ours, theirs = interleave(bench.rounds(3, 7), through_the_mount, through_passthrough)
        check_room(bench)
        yield Row(what, "bytes/second", ours, "passthrough_ll", theirs, limits=AS_FAST)


def check_room(bench):
    if shutil.disk_usage(bench.models).free < 4 * models.GIGABYTE:
        raise StepFailed(f"{bench.models} runs out of room")
