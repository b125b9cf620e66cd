"""README's commands, run as they stand there, in a folder with the sample model."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mounting import BINARY

ROOT = Path(__file__).resolve().parents[2]


def blocks(language):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def workplace(tmp_path):
    """A folder with the sample model, and a PATH on which `onnxfs` and `python3` are those under test."""
    subprocess.run([sys.executable, ROOT / "scripts" / "sample_model.py", tmp_path], check=True, timeout=60)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "onnxfs").symlink_to(BINARY)
    (programs / "python3").symlink_to(sys.executable)
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}")

    def run(script):
        return subprocess.run(["bash", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, text=True,
                              timeout=60)

    yield run
    for mount in ("mnt", "other", "zoo"):
        if os.path.ismount(tmp_path / mount):
            subprocess.run([BINARY, "umount", tmp_path / mount], timeout=20)


def test_recipes(workplace):
    recipes = blocks("sh")
    assert len(recipes) >= 5
    done = workplace("\n".join(recipes))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same weights" in done.stdout
    assert "user.onnx.xxh128" in done.stdout


def test_first_screen(workplace):
    """The session at the top prints what README says that it prints."""
    session = blocks("")[0]
    commands = re.findall(r"^\$ (.*)$", session, re.MULTILINE)
    printed = re.sub(r"^\$ .*\n", "", session, flags=re.MULTILINE)
    done = workplace("\n".join([*commands, "onnxfs umount mnt"]))
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed
