"""The program without a command, and with one that it does not have."""

import re

import pytest
from mounting import one_line, onnxfs
from offered import commands


def test_help_is_a_screen():
    done = onnxfs("--help")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 23 and max(map(len, lines)) <= 80
    assert onnxfs("-h").stdout == done.stdout


def test_every_command_has_help_with_an_example():
    for command in commands():
        done = onnxfs(command, "--help")
        assert done.returncode == 0
        assert f"Usage: onnxfs {command}" in done.stdout
        assert re.search(r"^Examples?:\n  onnxfs ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag):
    done = onnxfs(flag)
    assert done.returncode == 0
    name, version = done.stdout.split()
    assert name == "onnxfs" and version[0].isdigit()


def test_no_words():
    """The help, where errors go."""
    done = onnxfs()
    assert (done.returncode, done.stdout, done.stderr) == (2, "", onnxfs("--help").stdout)


@pytest.mark.parametrize("words", [["comit"], ["comit", "m.onnx"], ["comit", "m.onnx", "--in-place"]])
def test_mistyped_command(tmp_path, words):
    done = onnxfs(*words, cwd=tmp_path)
    line = one_line(done)
    assert done.returncode == 2 and "comit" in line and "onnxfs --help" in line
    assert not list(tmp_path.iterdir())


def test_model_of_the_name_of_a_command(tmp_path):
    """A path is no command."""
    done = onnxfs("./check", tmp_path / "mnt", cwd=tmp_path)
    assert done.returncode == 1 and "./check" in one_line(done)
