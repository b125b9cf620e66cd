"""Random edits, held against a simple model of what they do: edit_stress.py tells how, and runs alone for longer."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mounting import BINARY

OPERATIONS = 30_000  # of each of two runs
SECONDS = 120
PROGRAM = Path(__file__).with_name("edit_stress.py")


@pytest.mark.limit(SECONDS + 30)
@pytest.mark.parametrize("seed", [20, os.environ.get("ONNXFS_TEST_SEED")], ids=["always", "random"])
def test_random_edits(seed):
    """One seed is the same each time; the other is new, or ONNXFS_TEST_SEED, and is told where the test fails."""
    seed = random.randrange(1 << 32) if seed is None else int(seed)
    print(f"seed {seed}: repeat it with ONNXFS_TEST_SEED={seed}, or with edit_stress.py --seed {seed}")
    # A process of its own: stores to a map can end it with a signal.
    process = subprocess.Popen([sys.executable, "-B", PROGRAM, "--seed", str(seed), "--operations", str(OPERATIONS)],
                               env={**os.environ, "ONNXFS": BINARY}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        told, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # it unmounts
        told, _ = process.communicate(timeout=20)
        pytest.fail(f"over {SECONDS} s: {told}")
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, told
