"""From exec to the first byte of a named tensor: onnxfs against python3-onnx, the model's files in the page cache."""

import os

from . import caches, models, mounts
from .processes import run
from .report import Limit, Row
from .rounds import interleave

# python3-onnx takes seconds where we take milliseconds, which are noisier: a round has several mounts to one load.
MOUNTS_A_ROUND = 4

CASES = [
    (models.raw, [Limit("value", "at most", 0.030), Limit("ratio", "at least", 100)]),
    (models.external, [Limit("value", "at most", 0.030), Limit("ratio", "at least", 5)]),
    (models.many, [Limit("value", "at most", 0.150)]),
]


def with_onnxfs(bench, model):
    tensor = f"{bench.mount_point}/initializers/{model.probe}.bin"
    try:
        printed = run([bench.program("first_byte"), tensor, bench.onnxfs, model.path, bench.mount_point])
    finally:
        mounts.end_background_mount(bench)
    return int(printed) / 1e9


def with_python(bench, model):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_first_byte.py")
    return int(run([bench.program("first_byte"), "-", "/usr/bin/python3", script, model.path, model.probe])) / 1e9


def rows(bench):
    for make_model, limits in CASES:
        model = make_model(bench.models)
        bench.say(f"first byte, {model.title}")
        for file in model.files():
            caches.warm(file)
            caches.require_warm(bench, file, 0, os.path.getsize(file))
        ours, theirs = interleave(
            bench.rounds(3, 7),
            lambda: [with_onnxfs(bench, model) for _ in range(MOUNTS_A_ROUND)],
            lambda: with_python(bench, model),
        )
        yield Row(
            f"exec to first byte, {model.title}",
            "seconds",
            [sample for round_ in ours for sample in round_],
            "python3-onnx",
            theirs,
            "theirs/ours",
            limits,
        )
