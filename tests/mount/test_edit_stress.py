"""Random edits, held against a simple model of what they do: edit_stress.py tells how, and runs alone for longer."""

import os
import random
from pathlib import Path

import pytest
from mounting import run_alone

OPERATIONS = 30_000  # of each of two runs
SECONDS = 120
PROGRAM = Path(__file__).with_name("edit_stress.py")


@pytest.mark.limit(SECONDS + 30)
@pytest.mark.parametrize("seed", [20, os.environ.get("ONNXFS_TEST_SEED")], ids=["always", "random"])
def test_random_edits(seed):
    """One seed is the same each time; the other is new, or ONNXFS_TEST_SEED, and is told where the test fails."""
    seed = random.randrange(1 << 32) if seed is None else int(seed)
    print(f"seed {seed}: repeat it with ONNXFS_TEST_SEED={seed}, or with edit_stress.py --seed {seed}")
    # Stores to a map can end it with a signal.
    run_alone(PROGRAM, "--seed", seed, "--operations", OPERATIONS, seconds=SECONDS)
