"""`onnxfs stats` and `onnxfs diff` of models in the page cache, against what merely reads them, and against python3-onnx
with numpy, which has to load them.

Rates are of one model's bytes. cmp of equal files is also the measure for models that differ everywhere, where cmp
itself would stop at once.
"""

import os
import time

from . import caches, memory, models
from .processes import run_quietly
from .report import Limit, Row
from .rounds import interleave

AS_READING = [Limit("ratio", "at least", 0.5)]
TEN_TIMES = [Limit("ratio", "at least", 10)]
SMALL = [Limit("value", "at most", 32e6)]
PYTHON = ["/usr/bin/python3", os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_analysis.py")]


def seconds(argv, statuses=(0,)):
    script = f'"$@" >/dev/null; case $? in {"|".join(map(str, statuses))}) ;; *) exit 1;; esac'
    start = time.perf_counter()
    run_quietly(["sh", "-c", script, "sh", *argv], timeout=300)
    return time.perf_counter() - start


def rows(bench):
    model = models.weights(bench.models)
    same, other = models.weights(bench.models, "b"), models.weights(bench.models, "c", 1 + 2 ** -10)
    size = os.path.getsize(model.path)
    for each in (model, same, other):
        caches.warm_anew(each.path)
        caches.require_warm(bench, each.path, 0, size)
    stats = [bench.onnxfs, "stats", model.path]
    yield from reading(bench, f"stats, {model.title}", size, stats, "cat", ["cat", model.path])
    compare = ["cmp", model.path, same.path]
    equal, unequal = [bench.onnxfs, "diff", model.path, same.path], [bench.onnxfs, "diff", model.path, other.path]
    yield from reading(bench, f"diff of equal models, {model.title}", size, equal, "cmp", compare)
    yield from reading(bench, f"diff of models that differ everywhere, {model.title}", size, unequal, "cmp of equal ones",
                       compare)
    for what, ours, files in (("stats", stats, [model]), ("diff", unequal, [model, other])):
        yield loading(bench, f"{what}, {model.title}", ours, [*PYTHON, *(it.path for it in files)])
    for what, ours in (("stats", stats), ("diff", unequal)):
        yield Row(f"peak memory, {what}, {model.title}", "bytes", [memory.peak_of(ours) for _ in range(bench.rounds(1, 3))],
                  limits=SMALL)


def reading(bench, what, size, ours, against, theirs):
    bench.say(what)
    our_rates, their_rates = interleave(bench.rounds(3, 9), lambda: size / seconds(ours, (0, 1)),
                                        lambda: size / seconds(theirs))
    yield Row(what, "bytes/second", our_rates, against, their_rates, limits=AS_READING)


def loading(bench, what, ours, theirs):
    bench.say(f"{what}, python3-onnx")
    our_times, their_times = interleave(bench.rounds(1, 3), lambda: seconds(ours, (0, 1)), lambda: seconds(theirs))
    return Row(what, "seconds", our_times, "python3-onnx", their_times, ratio_is="theirs/ours", limits=TEN_TIMES)
