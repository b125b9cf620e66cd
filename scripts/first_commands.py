"""Prints five commands worth trying in a mount, about a tensor that is in it; scripts/run shows them.

usage: first_commands.py MODEL MNT
"""

import json
import math
import os
import shlex
import sys

EXAMINED = 50


def describe(mnt, row):
    """The JSON beside a tensor's file, and the path of both without suffix."""
    stem = os.path.join(mnt, row["path"].removesuffix(".bin"))
    with open(stem + ".json", encoding="utf-8") as file:
        return stem, json.load(file)


def rows(mnt):
    with open(os.path.join(mnt, "index.tsv"), encoding="utf-8") as file:
        head = next(file).rstrip("\n").split("\t")
        for line in file:
            yield dict(zip(head, line.rstrip("\n").split("\t")))


def largest_tensor(mnt):
    """The largest one that numpy reads and that stands in one piece in some file, or None."""
    for row in sorted(rows(mnt), key=lambda row: -int(row["nbytes"]))[:EXAMINED]:
        stem, tensor = describe(mnt, row)
        if tensor["numpy"] and tensor["offset"] is not None and tensor["nbytes"] > 0:
            return stem, tensor
    return None


def literal(text):
    """In double quotes, which stay readable inside the shell's single ones."""
    return json.dumps(text, ensure_ascii=False)


def numpy_command(stem, tensor):
    item_size = int(tensor["numpy"][2:])
    # Types packed below a byte have no shape that numpy could give them.
    shaped = f".reshape({tensor['shape']})" if math.prod(tensor["shape"]) * item_size == tensor["nbytes"] else ""
    program = (
        f"import numpy; w = numpy.fromfile({literal(stem + '.bin')}, {literal(tensor['numpy'])}){shaped}; "
        "print(w.shape, w.dtype, w.min(), w.max())"
    )
    return shlex.join(["/usr/bin/python3", "-c", program])


def commands(model, mnt):
    found = largest_tensor(mnt)
    yield f"head -n 5 {shlex.quote(os.path.join(mnt, 'index.tsv'))}"
    if found is None:
        yield f"jq . {shlex.quote(os.path.join(mnt, 'model.json'))}"
        yield f"head {shlex.quote(os.path.join(mnt, 'graph.txt'))}"
        return
    stem, tensor = found
    folder = os.path.join(mnt, os.path.relpath(stem, mnt).split("/")[0])
    source = os.path.join(os.path.dirname(model), tensor["file"])
    yield f"du -a {shlex.quote(folder)} | sort -rn | head"
    yield f"jq . {shlex.quote(stem + '.json')}"
    yield numpy_command(stem, tensor)
    compare = ["cmp", "-n", str(tensor["length"]), "-i", f"0:{tensor['offset']}", stem + ".bin", source]
    yield f"{shlex.join(compare)} && echo the same bytes"


def main():
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    for command in commands(*sys.argv[1:]):
        print(f"  {command}")


if __name__ == "__main__":
    main()
