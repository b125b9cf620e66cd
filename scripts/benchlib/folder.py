"""A walk over a folder of 4277 small models and values as one mount, against a plain copy of what the mount shows.

Hot and cold mean what they mean in metadata.py, and so do their targets: each answer of a FUSE server costs two switches
of processes, which a plain tree does not have. The mount's cold walk opens and scans every file.
"""

import os

from . import caches, metadata, mounts
from .report import Failure, Limit, Row
from .rounds import interleave

FOLDER = "/usr/share/libonnx-testdata/data"
WALK = ["find", "{}", "-type", "f", "-printf", "%s\n"]


def rows(bench):
    if not os.path.isdir(FOLDER):
        yield Failure("walk of a folder of models", "libonnx-testdata is not installed")
        return
    root = bench.mount_point
    with mounts.onnxfs(bench, FOLDER):
        tree = metadata.plain_tree(bench, root, "plain-folder")
        bench.say("a folder of models")
        walks = [lambda: metadata.seconds(WALK, root), lambda: metadata.seconds(WALK, tree)]
        interleave(1, *walks)
        yield row("hot", 3, *interleave(bench.rounds(5, 11), *walks))

    def fresh_mount():
        with mounts.onnxfs(bench, FOLDER):
            return metadata.seconds(WALK, root)

    def forgotten_tree():
        caches.drop_names()
        return metadata.seconds(WALK, tree)

    if caches.MAY_DROP:
        yield row("cold", 7, *interleave(bench.rounds(3, 7), fresh_mount, forgotten_tree))
    else:
        yield Failure("walk of a folder of models, cold", "only root can empty the kernel's caches")


def row(state, limit, ours, theirs):
    what = f"stat of all, {state}, a folder of 4277 files"
    return Row(what, "seconds", ours, "plain tree", theirs, limits=[Limit("ratio", "at most", limit)])
