"""The daemon's peak of anonymous memory. Pages of the mapped model belong to the page cache and are not counted."""

import os
import resource
import subprocess
import threading

from . import mounts, models
from .processes import run_quietly
from .report import Limit, Row

CASES = [(models.raw, 16e6), (models.external, 16e6), (models.many, 32e6)]


class PeakOfAnonymous:
    """The largest anonymous memory (RssAnon) of a process while the `with` block runs.

    The kernel keeps a peak only of all resident memory (VmHWM), mapped files included. So this one is sampled without
    a pause, from statm, where it is "resident" less "shared": a few microseconds a sample, in which a process touches
    some ten new pages at most.
    """

    def __init__(self, pid):
        self.pid, self.pages, self.done = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self._sample)

    def _sample(self):
        with open(f"/proc/{self.pid}/statm", "rb", buffering=0) as statm:
            while not self.done.is_set():
                statm.seek(0)
                _, resident, shared, *_ = statm.read(128).split()
                self.pages = max(self.pages, int(resident) - int(shared))

    @property
    def peak(self):
        return self.pages * resource.getpagesize()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def peak_of(argv):
    """Of a command that ends by itself."""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        with PeakOfAnonymous(process.pid) as sampled:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    return sampled.peak


def peak(bench, model):
    """From exec over the first read to the end of a walk that stats every file of the mount."""
    with mounts.onnxfs(bench, model.path, wait=False) as server, PeakOfAnonymous(server.process.pid) as sampled:
        server.wait_until_mounted()
        with open(f"{bench.mount_point}/initializers/{model.probe}.bin", "rb", buffering=0) as tensor:
            tensor.read(1)
        run_quietly(["sh", "-c", 'find "$1" -type f -print0 | xargs -0 stat', "sh", bench.mount_point])
    return sampled.peak


def rows(bench):
    for make_model, limit in CASES:
        model = make_model(bench.models)
        bench.say(f"memory, {model.title}")
        peaks = [peak(bench, model) for _ in range(bench.rounds(1, 3))]
        yield Row(f"peak memory, {model.title}", "bytes", peaks, limits=[Limit("value", "at most", limit)])
