"""Walks over 50,000 tensors, against a plain directory tree of the same names, sizes and contents.

Hot: everything walked before, so the kernel's caches answer.
Cold: for the mount, a fresh one, of which the kernel knows nothing. For the plain tree, the kernel's names and inodes
are dropped, but not the disk's blocks that hold them. So neither side waits for a disk, which is right, as onnxfs
keeps its names in memory and needs none either; with the blocks dropped too, the plain tree would be the slower one by
far. (A tree in tmpfs cannot be made cold: its names and inodes live in those caches and nowhere else.)
"""

import hashlib
import os
import shutil
import time

from . import caches, models, mounts
from .processes import run, run_quietly
from .report import Failure, Limit, Row
from .rounds import interleave

WALKS = [
    ("find", ["find", "{}"]),
    ("ls -fR", ["ls", "-fR", "{}"]),
    ("stat of all", ["find", "{}", "-type", "f", "-printf", "%s\n"]),
    ("du -a", ["du", "-a", "{}"]),
]


def seconds(command, root):
    argv = [root if word == "{}" else word for word in command]
    start = time.perf_counter()
    run_quietly(argv)
    return time.perf_counter() - start


def listing(root):
    """A fingerprint of all names and sizes, but of what each mount says of itself."""
    lines = run(["find", root, "-type", "f", "!", "-name", "status.json", "-printf", "%P %s\\n"]).splitlines()
    return hashlib.sha256("\n".join(sorted(lines)).encode(errors="surrogateescape")).hexdigest()


def plain_tree(bench, root, name="plain-tree"):
    """A copy of `root` in the cache folder; made anew when what onnxfs shows has changed."""
    tree = os.path.join(bench.models, name)
    stamp = os.path.join(bench.models, f"{name}.listing")
    wanted = listing(root)
    if not os.path.exists(stamp) or open(stamp, encoding="ascii").read() != wanted:
        bench.say("copying the mount's tree (once)")
        shutil.rmtree(tree, ignore_errors=True)
        run(["cp", "-r", root, tree], timeout=300)
        assert listing(tree) == wanted, "the copy differs from the mount"
        with open(stamp, "w", encoding="ascii") as file:
            file.write(wanted)
    return tree


def rows(bench):
    model = models.many(bench.models)
    root = f"{bench.mount_point}/initializers"
    with mounts.onnxfs(bench, model.path):
        tree = plain_tree(bench, root)
        bench.say("metadata, hot")
        for name, command in WALKS:
            walks = [lambda: seconds(command, root), lambda: seconds(command, tree)]
            interleave(1, *walks)
            ours, theirs = interleave(bench.rounds(5, 11), *walks)
            yield row(name, "hot", ours, theirs, 3)

    def fresh_mount():
        with mounts.onnxfs(bench, model.path):
            return seconds(command, root)

    def forgotten_tree():
        caches.drop_names()
        return seconds(command, tree)

    bench.say("metadata, cold")
    for name, command in WALKS:
        if caches.MAY_DROP:
            ours, theirs = interleave(bench.rounds(3, 7), fresh_mount, forgotten_tree)
            yield row(name, "cold", ours, theirs, 7)
        else:
            yield Failure(f"{name}, cold, 50,000 tensors", "only root can empty the kernel's caches")


def row(name, state, ours, theirs, limit):
    limits = [Limit("ratio", "at most", limit)]
    return Row(f"{name}, {state}, 50,000 tensors", "seconds", ours, "plain tree", theirs, limits=limits)
