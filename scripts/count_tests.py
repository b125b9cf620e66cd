"""Sums up runs of GoogleTest and pytest from their JUnit files, as the one line "N passed, N failed, N skipped".

usage: count_tests.py XML EXIT_STATUS [XML EXIT_STATUS …]

A run that crashed, or failed beside its tests, counts as one failed. The exit status is 1 when anything failed, or
nothing ran.
"""

import sys
import xml.etree.ElementTree as ElementTree

PYTEST_RAN_NOTHING = 5
TIMED_OUT = (124, 137)


def outcome(case):
    children = {child.tag for child in case}
    if children & {"failure", "error"}:
        return "failed"
    if "skipped" in children or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def reason(status):
    if status in TIMED_OUT:
        return "ran out of time"
    return f"was ended by signal {status - 128}" if status > 128 else f"exited with status {status}"


def outcomes(path, status):
    try:
        found = [outcome(case) for case in ElementTree.parse(path).iter("testcase")]
    except (OSError, ElementTree.ParseError):
        found = []
    if status not in (0, PYTEST_RAN_NOTHING) and "failed" not in found:
        print(f"The run that writes {path} {reason(status)}: counted as one failed test.")
        found.append("failed")
    return found


def main():
    found = []
    for path, status in zip(sys.argv[1::2], sys.argv[2::2]):
        found += outcomes(path, int(status))
    passed, failed, skipped = (found.count(word) for word in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
