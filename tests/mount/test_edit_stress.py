"""Random edits, held against a simple model of what they do: edit_stress.py tells how, and runs alone for longer."""

import os
import random

import edit_stress
import pytest

OPERATIONS = 30_000  # of each of two runs


@pytest.mark.limit(150)
@pytest.mark.parametrize("seed", [20, os.environ.get("ONNXFS_TEST_SEED")], ids=["always", "random"])
def test_random_edits(seed):
    """One seed is the same each time; the other is new, or ONNXFS_TEST_SEED, and is told where the test fails."""
    seed = random.randrange(1 << 32) if seed is None else int(seed)
    print(f"seed {seed}: repeat it with ONNXFS_TEST_SEED={seed}, or with edit_stress.py --seed {seed}")
    done = edit_stress.run(seed, OPERATIONS)
    assert sum(done.values()) >= OPERATIONS
