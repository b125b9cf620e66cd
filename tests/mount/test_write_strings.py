"""Tensors of strings: whole replacements with as many elements, each a length of four bytes and its bytes."""

import errno
import os
import struct

import pytest
from datatypes import string_payload
from editable import overwrite, replacement
from editing import kill_and_remount, opened, unchanged
from mounting import error_of, run
from onnx_wire import STRING, Message, graph, node, tensor, write_model

OLD = [b"one", b"", b"three"]
NAMES = [b"LEAF", b"BRANCH_LEQ"]


@pytest.fixture
def mnt(mount, tmp_path):
    path = tmp_path / "m.onnx"
    message = tensor("s", STRING, [3])
    for value in OLD:
        message.bytes(6, value)
    names = Message().string(1, "nodes_modes").bytes(9, NAMES[0]).bytes(9, NAMES[1]).varint(20, 8)
    write_model(path, graph([message, tensor("none", STRING, [0])],
                            [node("Trees", ["x"], ["y"], "t", [names], domain="ai.onnx.ml")]))
    with mount(path) as mounted:
        assert mounted.bytes("s") == string_payload(OLD)
        yield mounted


CONTENTS = [[b"1", b"2", b"3"], [b"", b"", b""], [b"\0" * 4, b"\xff\xfe", "é".encode()], [b"x" * 200_000, b"", b"y"],
            [b"one", b"", b"three"]]


@pytest.mark.parametrize("values", CONTENTS, ids=lambda values: repr([value[:4] for value in values]))
def test_replaced(mnt, values):
    content = string_payload(values)
    replacement(mnt.file("s"), content)
    assert mnt.file("s").stat().st_size == len(content)
    assert mnt.bytes("s") == content
    assert mnt.json("s")["nbytes"] == len(content)
    kill_and_remount(mnt)
    assert mnt.bytes("s") == content


def test_shell(mnt, tmp_path):
    (tmp_path / "new").write_bytes(string_payload([b"a" * 5000, b"b", b"c"]))
    assert run("cp", tmp_path / "new", mnt.file("s")).returncode == 0
    assert run("cmp", tmp_path / "new", mnt.file("s")).returncode == 0
    assert run("bash", "-c", f"tail -c +1 {tmp_path / 'new'} | head -c 100000 > {mnt.file('s')}").returncode == 0
    assert run("cmp", tmp_path / "new", mnt.file("s")).returncode == 0


def test_growing_and_shrinking(mnt):
    """The size is visible at once, also where the kernel knew another one."""
    for size in (10, 5000, 0, 70_000, 3):
        content = string_payload([b"x" * size, b"mid", b"y" * (size // 2)])
        replacement(mnt.file("s"), content)
        assert mnt.file("s").stat().st_size == len(content)
        assert mnt.bytes("s") == content
        with opened(mnt.file("s"), os.O_RDONLY) as fd:
            assert os.pread(fd, 100, len(content)) == b""


@pytest.mark.parametrize("content", [
    b"", string_payload([b"a", b"b"]), string_payload([b"a", b"b", b"c", b"d"]), string_payload(OLD)[:-1],
    string_payload(OLD) + b"x", b"\xff" * 12, struct.pack("<I", 1 << 31) + b"x" * 20, b"a\nb\nc\n",
    string_payload([b"a", b"b"]) + b"\1\0\0",
], ids=repr)
def test_a_wrong_count(mnt, content):
    with unchanged(mnt.file("s")):
        assert error_of(replacement, mnt.file("s"), content) == errno.EINVAL


def test_writes_in_place(mnt):
    """They are a replacement too: what is there when the file is closed must be a list of as many strings."""
    with unchanged(mnt.file("s")):
        assert error_of(overwrite, mnt.file("s"), 0, b"\4") == errno.EINVAL
        assert error_of(overwrite, mnt.file("s"), 100, b"far") == errno.EINVAL
        assert error_of(os.truncate, mnt.file("s"), 4) == errno.EINVAL
    overwrite(mnt.file("s"), 4, b"two")
    assert mnt.bytes("s") == string_payload([b"two", b"", b"three"])
    with open(mnt.file("s"), "ab") as file:
        file.write(b"")
    assert error_of(open, mnt.file("s"), "r+b") is None
    assert mnt.bytes("s") == string_payload([b"two", b"", b"three"])


def test_none(mnt):
    assert mnt.bytes("none") == b""
    assert error_of(replacement, mnt.file("none"), b"\0\0\0\0") == errno.EINVAL
    replacement(mnt.file("none"), b"")
    assert mnt.bytes("none") == b""


def test_an_attribute(mnt):
    path = mnt.path / "attributes" / "t" / "nodes_modes.bin"
    assert path.read_bytes() == string_payload(NAMES)
    replacement(path, string_payload([b"BRANCH_GT", b""]))
    assert path.read_bytes() == string_payload([b"BRANCH_GT", b""])
    assert error_of(replacement, path, string_payload([b"one"])) == errno.EINVAL
    assert path.read_bytes() == string_payload([b"BRANCH_GT", b""])
