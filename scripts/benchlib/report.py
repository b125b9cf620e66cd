"""Rows of the result and their table."""

import json
from dataclasses import asdict, dataclass, field
from statistics import median


def milliseconds(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def gigabytes_per_second(rate):
    return f"{rate / 1e9:.2f} GB/s"


def thousands_per_second(rate):
    return f"{rate / 1e3:.1f} k/s"


def bytes_in_words(size):
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1024:.1f} KiB"


UNITS = {
    "seconds": milliseconds,
    "bytes/second": gigabytes_per_second,
    "reads/second": thousands_per_second,
    "bytes": bytes_in_words,
}


@dataclass(frozen=True)
class Limit:
    """`of` is "value" or "ratio"; `sense` "at most" or "at least"."""

    of: str
    sense: str
    bound: float

    def is_met_by(self, value):
        return value <= self.bound if self.sense == "at most" else value >= self.bound


@dataclass
class Row:
    """One line: our samples, and those of what we are held against, if anything.

    `ratio_is` "ours/theirs", or "theirs/ours" where that is how many times faster we are. Samples of one round belong
    together, so the ratio is the median of the rounds' ratios; with unequal numbers of samples, that of the medians.
    """

    what: str
    unit: str
    ours: list
    against: str = ""
    theirs: list = field(default_factory=list)
    ratio_is: str = "ours/theirs"
    limits: list = field(default_factory=list)

    @property
    def value(self):
        # Of memory the peak counts, of everything else the middle.
        return max(self.ours) if self.unit == "bytes" else median(self.ours)

    @property
    def ratio(self):
        if not self.theirs:
            return None
        above, below = (self.ours, self.theirs) if self.ratio_is == "ours/theirs" else (self.theirs, self.ours)
        if len(above) != len(below):
            return median(above) / median(below)
        return median(a / b for a, b in zip(above, below))

    @property
    def is_met(self):
        return all(limit.is_met_by(self.value if limit.of == "value" else self.ratio) for limit in self.limits)

    def cells(self):
        show = UNITS[self.unit]
        theirs = f"{self.against} {show(median(self.theirs))}" if self.theirs else ""
        ratio = format_ratio(self.ratio) if self.theirs else ""
        targets = ", ".join(
            f"{'≤' if limit.sense == 'at most' else '≥'} {show_bound(limit, show)}" for limit in self.limits
        )
        verdict = ("yes" if self.is_met else "**no**") if self.limits else ""
        return [self.what, show(self.value), theirs, ratio, targets, verdict]


@dataclass
class Failure:
    """A row that could not be measured."""

    what: str
    reason: str

    def cells(self):
        return [self.what, "not measured", self.reason, "", "", ""]


def format_ratio(ratio):
    return f"{ratio:.0f} ×" if ratio >= 20 else f"{ratio:.2f} ×"


def show_bound(limit, show):
    if limit.of == "ratio":
        return f"{limit.bound:g} ×"
    return show(limit.bound).replace(".0 ", " ")


def markdown(rows, machine):
    head = ["what", "onnxfs", "against", "ratio", "target", "met"]
    lines = [head, ["---", "--:", "--:", "--:", "--:", "---"]] + [row.cells() for row in rows]
    table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return f"{machine}\n\n{table}"


def write_json(path, rows, machine):
    def plain(row):
        if isinstance(row, Failure):
            return asdict(row)
        return {**asdict(row), "value": row.value, "ratio": row.ratio, "met": row.is_met if row.limits else None}

    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "rows": [plain(row) for row in rows]}, file, indent=2)
        file.write("\n")
