"""Many readers and writers at once, and mounts that end under them: load_stress.py tells how, and runs alone for longer."""

import random
from pathlib import Path

import pytest
from mounting import run_alone

ROUNDS = 8
SECONDS = 120


@pytest.mark.limit(SECONDS + 30)
def test_many_at_once():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}: load_stress.py --seed {seed}")
    run_alone(Path(__file__).with_name("load_stress.py"), "--seed", seed, "--rounds", ROUNDS, seconds=SECONDS)
