"""Child processes that end: each has a time-out, and none outlives the bench."""

import os
import signal
import subprocess


class StepFailed(Exception):
    """A step of the bench that could not be measured, with the reason for a person."""


def run(argv, timeout=120):
    """Runs to the end and returns what was printed; StepFailed with the error output when that is no success."""
    try:
        done = subprocess.run(
            [str(a) for a in argv], timeout=timeout, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise StepFailed(f"{argv[0]} took over {timeout} s") from None
    if done.returncode != 0:
        raise StepFailed(f"{' '.join(map(str, argv))}: exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def run_quietly(argv, timeout=120):
    """Like run(), for commands that print much: nothing is kept but the last errors."""
    return run(["sh", "-c", 'exec "$@" >/dev/null', "sh", *argv], timeout)


def wait_for_end(process, seconds):
    """Whether the child process ended by itself in time."""
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


def command_lines():
    """(pid, arguments) of every process that there is."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    yield int(entry), [os.fsdecode(a) for a in file.read().split(b"\0")[:-1]]
            except OSError:
                continue  # It ended while we looked.


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
