"""The command line that the stress programs share."""

import argparse
import random
import sys

import mounting


def main(document, run, failure, count):
    """`run(seed, how many, seconds)` gives a Counter of what was done, or raises `failure`; `count`: what it counts."""
    parser = argparse.ArgumentParser(description=document.split("\n")[0])
    parser.add_argument("--minutes", type=float, help=f"how long, unless --{count} is reached before")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument(f"--{count}", type=int)
    arguments = parser.parse_args()
    most = getattr(arguments, count)
    if arguments.minutes is None and most is None:
        arguments.minutes = 1
    mounting.adopt_orphans()
    print(f"seed {arguments.seed}", flush=True)
    try:
        done = run(arguments.seed, most, arguments.minutes and 60 * arguments.minutes)
    except failure as found:
        sys.exit(f"seed {arguments.seed}: {found}")
    print(f"{sum(done.values())} operations: {', '.join(f'{name} {number}' for name, number in done.most_common())}")
