"""scripts/bench: measures onnxfs and prints a table of medians and ratios as markdown.

Its models are made once and kept. All sides of a comparison take turns. The whole takes some minutes on two cores.
"""

import argparse
import os
import signal
import sys
import tempfile
import time

from . import (analysis, commits, disk, edits, exports, first_byte, folder, machine, memory, metadata, programs, reads,
               report, views)
from .mounts import remove_empty
from .processes import StepFailed

CASES = {"first-byte": first_byte, "memory": memory, "reads": reads, "metadata": metadata, "folder": folder,
         "disk": disk, "edits": edits, "commits": commits, "exports": exports, "views": views, "analysis": analysis}


class Bench:
    """What every case needs: the program, where its models are, where to mount, how many rounds."""

    def __init__(self, arguments, scratch):
        self.onnxfs = os.path.abspath(arguments.onnxfs)
        self.models = os.path.abspath(arguments.models)
        self.mount_point = os.path.join(scratch, "mnt")
        self.quick = arguments.quick
        self.start = time.monotonic()

    def rounds(self, quick, full):
        return quick if self.quick else full

    def program(self, name):
        return programs.compiled(name, os.path.join(self.models, "programs"))

    def say(self, what):
        print(f"[{time.monotonic() - self.start:4.0f} s] {what}", file=sys.stderr, flush=True)


def parse(words):
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    add = parser.add_argument
    add("--models", default="/var/tmp/onnxfs-bench", metavar="DIR", help="keeps its 16 GB of models (%(default)s)")
    add("--onnxfs", default="build/fs/onnxfs", metavar="PROGRAM", help="what to measure (%(default)s)")
    add("--quick", action="store_true", help="fewer rounds")
    add("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME", help=", ".join(CASES))
    add("--json", metavar="FILE", help="write all samples there as well")
    return parser.parse_args(words)


def measure(bench, names):
    rows = []
    for name in names:
        try:
            for row in CASES[name].rows(bench):
                rows.append(row)
        except (StepFailed, OSError) as error:
            bench.say(f"{name}: {error}")
            rows.append(report.Failure(name, str(error)))
    return rows


def main():
    # An end from outside unwinds like Ctrl-C does, through every `with` that has something to unmount.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    arguments = parse(sys.argv[1:])
    scratch = tempfile.mkdtemp(prefix="onnxfs-bench.")
    try:
        bench = Bench(arguments, scratch)
        if os.getloadavg()[0] > 0.5:
            bench.say(f"this machine is busy (load {os.getloadavg()[0]:.1f}): expect noise")
        rows = measure(bench, arguments.only)
    except KeyboardInterrupt:
        sys.exit("interrupted")
    finally:
        remove_empty(scratch)
    described = machine.describe()
    print(report.markdown(rows, described))
    if arguments.json:
        report.write_json(arguments.json, rows, described)
    sys.exit(any(isinstance(row, report.Failure) for row in rows))


if __name__ == "__main__":
    main()
