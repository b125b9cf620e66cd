"""The views of tensors: reading one through them, and what they cost the process that serves them.

A tensor of 500 MiB is read through npy/, model.safetensors and live/, against its own .bin on a mount of its own; all
are ranges of the same mapped file. Whole pages of each are read: where a tensor begins inside a page, the kernel copies
more slowly to a buffer that is aligned, whoever serves it. Text has nothing to be held against but a bound: it is made
while it is read. So is XXH128SUMS, of which `xxhsum -c` is held against hashing the same files without it. What the
kernel's own way through FUSE costs is told by the row that has plain files beside it.
"""

import json
import os
import shutil
import time

from . import caches, models, mounts
from .memory import PeakOfAnonymous
from .processes import StepFailed, run, run_quietly
from .report import Limit, Row
from .rounds import interleave

NEARLY_AS_FAST = [Limit("ratio", "at least", 0.9)]
CHECKED_AS_FAST = [Limit("ratio", "at least", 0.8)]
FAST_TEXT = [Limit("value", "at least", 200e6)]
BOUNDED = [Limit("value", "at most", 16e6)]
BOUNDED_OF_MANY = [Limit("value", "at most", 48e6)]

PAGE = models.PAGE
READ_PART = 'head -c 600000000 "$1" >/dev/null'


def rows(bench):
    model = models.large_tensor(bench.models)
    caches.warm(model.path)
    yield from reads(bench, model)
    yield from texts(bench, models.of_each_type(bench.models))
    yield from sums(bench, models.raw(bench.models))
    yield from memory(bench, model, ["npy/initializers/{}.npy", "text/initializers/{}.txt", "pb/initializers/{}.pb"],
                      BOUNDED)
    whole = ["model.safetensors", "live/" + os.path.basename(model.path), "XXH128SUMS"]
    yield from memory(bench, model, whole, BOUNDED)
    many = models.many(bench.models)
    whole = ["model.safetensors", "live/" + os.path.basename(many.path), "XXH128SUMS"]
    yield from memory(bench, many, whole, BOUNDED_OF_MANY)


def places(mount, model):
    """{view: (file, where the tensor's bytes begin in it)}, its .bin, and how many bytes there are."""
    with open(f"{mount}/initializers/{model.probe}.json", encoding="utf-8") as file:
        about = json.load(file)
    with open(f"{mount}/model.safetensors", "rb") as file:
        header_size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(header_size))
    npy = f"{mount}/npy/initializers/{model.probe}.npy"
    found = {
        "npy/": (npy, os.stat(npy).st_size - about["nbytes"]),
        "model.safetensors": (f"{mount}/model.safetensors", 8 + header_size + header[model.probe]["data_offsets"][0]),
        "live/": (f"{mount}/live/{about['file']}", about["offset"]),
    }
    tensor = f"{mount}/initializers/{model.probe}.bin"
    for file, offset in found.values():
        run(["cmp", "-n", about["nbytes"], "-i", f"0:{offset}", tensor, file])
    return found, tensor, about["nbytes"]


def cold_and_hot(bench, model, file, offset, length):
    """Bytes a second of a first and a second reading, on a mount of its own."""
    with mounts.onnxfs(bench, model.path):
        nanoseconds = [int(run([bench.program("reader"), "sequential", file, offset, length])) for _ in range(2)]
    return [length * 1e9 / t for t in nanoseconds]


def reads(bench, model):
    with mounts.onnxfs(bench, model.path):
        found, tensor, length = places(bench.mount_point, model)
    for view, (file, offset) in found.items():
        bench.say(f"reads through {view}, {model.title}")

        def through_the_view():
            return cold_and_hot(bench, model, file, -(-offset // PAGE) * PAGE, length - PAGE)

        def through_the_bin():
            return cold_and_hot(bench, model, tensor, 0, length - PAGE)

        ours, theirs = interleave(bench.rounds(3, 11), through_the_view, through_the_bin)
        for state, our_rates, their_rates in zip(("cold", "hot"), zip(*ours), zip(*theirs)):
            yield Row(f"{state} 1 MiB reads through {view}, {model.title}", "bytes/second", list(our_rates), "its .bin",
                      list(their_rates), limits=NEARLY_AS_FAST)


def texts(bench, model):
    with mounts.onnxfs(bench, model.path) as server:
        folder = f"{server.place}/text/initializers"
        names = sorted(os.listdir(folder))
    for name in names:
        file = os.path.join(folder, name)
        rates = []
        bench.say(f"text/ of {name}")
        for _ in range(bench.rounds(2, 5)):
            with mounts.onnxfs(bench, model.path):
                size = os.stat(file).st_size
                rates.append(size * 1e9 / int(run([bench.program("reader"), "sequential", file, 0, size])))
        title = f"cold 1 MiB reads of text/, {name.removesuffix('.txt')} of random bits"
        yield Row(title, "bytes/second", rates, limits=FAST_TEXT)


def seconds(command, folder):
    start = time.monotonic()
    run_quietly(["sh", "-c", f'cd "$1" && {command}', "sh", folder])
    return time.monotonic() - start


CHECK = "xxhsum -c XXH128SUMS"
HASH = "find initializers -name '*.bin' -exec xxhsum -H2 {} +"


def sums(bench, model):
    bench.say(f"{CHECK}, {model.title}")
    caches.warm(model.path)

    def twice(command):
        with mounts.onnxfs(bench, model.path) as server:
            return [seconds(command, server.place) for _ in range(2)]

    ours, theirs = interleave(bench.rounds(3, 7), lambda: twice(CHECK), lambda: twice(HASH))
    for state, our_times, their_times in zip(("cold", "hot"), zip(*ours), zip(*theirs)):
        yield Row(f"{state} {CHECK}, {model.title}", "seconds", list(our_times), "xxhsum *.bin", list(their_times),
                  ratio_is="theirs/ours", limits=CHECKED_AS_FAST)
    plain = plain_copy(bench, model)
    try:
        copied = [seconds(CHECK, plain) for _ in our_times]
    finally:
        shutil.rmtree(plain)
    yield Row(f"hot {CHECK}, {model.title}", "seconds", list(our_times), "plain files", copied, ratio_is="theirs/ours")


def plain_copy(bench, model):
    """A folder with the tensors' files and their sums, as a user copies them out of the mount."""
    plain = os.path.join(bench.models, "plain-bins")
    shutil.rmtree(plain, ignore_errors=True)
    if shutil.disk_usage(bench.models).free < 4 * models.GIGABYTE:
        raise StepFailed(f"{bench.models} has no room for a copy of {model.path}")
    os.makedirs(plain)
    with mounts.onnxfs(bench, model.path) as server:
        run(["cp", "-r", f"{server.place}/initializers", f"{server.place}/XXH128SUMS", plain])
    return plain


def memory(bench, model, files, limits):
    for file in files:
        bench.say(f"memory, {file.split('/')[0]}, {model.title}")
        with mounts.onnxfs(bench, model.path) as server, PeakOfAnonymous(server.process.pid) as sampled:
            run(["sh", "-c", READ_PART, "sh", f"{server.place}/{file.format(model.probe)}"])
        yield Row(f"peak memory, reading {file.split('/')[0]}, {model.title}", "bytes", [sampled.peak], limits=limits)
