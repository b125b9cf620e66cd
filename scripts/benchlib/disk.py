"""A sequential read of bytes that are on the disk only: through the mount, the floor, and from the model file itself.

Pages that a process has mapped survive an emptied page cache, and a daemon maps what it has served. So each read has
a mount of its own, and nothing is mounted while the file itself is read.

The floor has no target here. It tells what to think of the other ratio: where the disk is faster than FUSE, no server
can come near the plain file.
"""

from . import caches, models, mounts
from .processes import run
from .reads import place_of
from .report import Limit, Row
from .rounds import interleave


def rows(bench):
    model = models.large_tensor(bench.models)
    bench.say("disk-cold reads")
    offset, length = place_of(bench, model)

    def rate(file, start):
        caches.require_cold(bench, model.path, offset, length)
        return length * 1e9 / int(run([bench.program("reader"), "sequential", file, start, length]))

    def through_the_mount():
        caches.drop_pages()
        with mounts.onnxfs(bench, model.path) as server:
            return rate(f"{server.place}/initializers/{model.probe}.bin", 0)

    def through_the_floor():
        caches.drop_pages()
        with mounts.floor(bench, model.path, offset, length) as server:
            return rate(f"{server.place}/f", 0)

    def from_the_file():
        caches.drop_pages()
        return rate(model.path, offset)

    # The first read may be the only one that the disk has not cached itself.
    from_the_file()
    ours, floor, plain = interleave(bench.rounds(5, 11), through_the_mount, through_the_floor, from_the_file)
    what = f"disk-cold 1 MiB reads, {model.title}"
    yield Row(what, "bytes/second", ours, "plain file", plain, limits=[Limit("ratio", "at least", 0.9)])
    yield Row(what, "bytes/second", ours, "floor", floor)
