"""Reads of one large tensor, onnxfs against the floor: the least server that answers from a map of the same bytes.

The model is in the page cache throughout, so what is measured is the way through FUSE. "Cold" means that the kernel
holds nothing of the mount: it is fresh. onnxfs asks the kernel for more read-ahead on its mount where it may (as
root); the floor does not.
"""

import json

from . import caches, models, mounts
from .processes import run
from .report import Limit, Row
from .rounds import interleave

RANDOM_READS = 20000  # as reader.c has it
AS_FAST = [Limit("ratio", "at least", 0.95)]

# For each fresh mount, the ways to read in their order, each with its row's title.
ON_ONE_MOUNT = [
    [("sequential", "cold 1 MiB reads"), ("sequential", "hot 1 MiB reads"), ("direct", "O_DIRECT 1 MiB reads")],
    [("mapped", "cold walk of a map")],
    [("random", "cold 4 KiB random reads")],
]


def place_of(bench, model):
    """(offset, length) of the tensor in the model file, once it is sure that the mount serves what stands there."""
    with mounts.onnxfs(bench, model.path):
        tensor = f"{bench.mount_point}/initializers/{model.probe}"
        with open(tensor + ".json", encoding="utf-8") as file:
            described = json.load(file)
        offset, length = described["offset"], described["length"]
        run(["cmp", "-n", length, "-i", f"0:{offset}", tensor + ".bin", model.path])
    return offset, length


def rates(bench, server, file, length, ways):
    """Reads a second (random) or bytes a second (all others) of each way, on one mount."""
    with server:
        nanoseconds = [int(run([bench.program("reader"), way, file, 0, length])) for way, _ in ways]
    return [(RANDOM_READS if way == "random" else length) * 1e9 / t for (way, _), t in zip(ways, nanoseconds)]


def rows(bench):
    model = models.large_tensor(bench.models)
    bench.say(f"reads, {model.title}")
    caches.warm(model.path)
    offset, length = place_of(bench, model)
    caches.require_warm(bench, model.path, offset, length)
    tensor = f"{bench.mount_point}/initializers/{model.probe}.bin"
    for ways in ON_ONE_MOUNT:

        def with_onnxfs():
            return rates(bench, mounts.onnxfs(bench, model.path), tensor, length, ways)

        def with_floor():
            server = mounts.floor(bench, model.path, offset, length)
            return rates(bench, server, server.place + "/f", length, ways)

        ours, theirs = interleave(bench.rounds(7, 21), with_onnxfs, with_floor)
        for (way, title), our_rates, their_rates in zip(ways, zip(*ours), zip(*theirs)):
            unit = "reads/second" if way == "random" else "bytes/second"
            yield Row(f"{title}, {model.title}", unit, our_rates, "floor", their_rates, limits=AS_FAST)
