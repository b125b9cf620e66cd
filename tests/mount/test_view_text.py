"""text/: each line is found by arithmetic and reads back to the value that it is for."""

import json
import math
import os

import numpy
import pytest
from datatypes import SIZED, string_payload
from mounting import run
from onnx_wire import FLOAT, STRING, graph, tensor, write_model
from viewed import SHAPES, read_back, wanted

STRINGS = [b"one", b"", "zw\u00f6lf \u91cd\u307f".encode(), b"\0\x1f\"\\/\n", b"\xff\xfe bytes", b"x" * 5000,
           "\U0001f600".encode()]


def same(found, value):
    if not isinstance(value, complex):
        return found == value
    return all(a == b or math.isnan(a) and math.isnan(b) for a, b in ((found.real, value.real),
                                                                     (found.imag, value.imag)))


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_values_read_back(viewed, row):
    mnt, tensors = viewed
    for kind in SHAPES:
        it = tensors[f"{row.onnx}/{kind}"]
        path = mnt.path / "text" / "initializers" / row.onnx / (kind + ".txt")
        content = path.read_text(encoding="ascii")
        assert path.stat().st_size == len(content)
        lines = content.splitlines()
        assert len(lines) == len(it.patterns) and len({len(line) for line in lines}) <= 1
        assert content == "".join(line + "\n" for line in lines)
        for line, pattern in zip(lines, it.patterns):
            assert same(read_back(row, line.strip()), wanted(row, pattern)), (line, pattern)


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_any_line_by_arithmetic(viewed, row):
    """A read from the middle of a line on gives what a read of all has there."""
    mnt, _ = viewed
    path = mnt.path / "text" / "initializers" / row.onnx / "cube.txt"
    whole = path.read_bytes()
    width = len(whole) // 135
    fd = os.open(path, os.O_RDONLY)
    try:
        for n in (0, 1, 64, 134):
            assert os.pread(fd, width, n * width) == whole[n * width:(n + 1) * width]
        for offset in range(0, len(whole), 7):
            assert os.pread(fd, 13, offset) == whole[offset:offset + 13]
    finally:
        os.close(fd)


@pytest.fixture(scope="module")
def strings(mount, tmp_path_factory):
    path = tmp_path_factory.mktemp("strings") / "m.onnx"
    message = tensor("s", STRING, [len(STRINGS)])
    many = tensor("many", STRING, [20_000])
    for value in STRINGS:
        message.bytes(6, value)
    for i in range(20_000):
        many.bytes(6, b"number %d" % i)
    write_model(path, graph([message, many, tensor("none", STRING, [0])]))
    with mount(path) as mnt:
        yield mnt


def text_of(mnt, name):
    path = mnt.path / "text" / "initializers" / (name + ".txt")
    size = path.stat().st_size
    content = path.read_bytes()
    assert size == len(content)
    return content


def test_strings_are_json(strings):
    lines = text_of(strings, "s").decode().split("\n")
    assert lines.pop() == "" and len(lines) == len(STRINGS)
    values = [json.loads(line).encode(errors="surrogateescape") for line in lines]
    assert values == STRINGS
    assert string_payload(values) == strings.bytes("s")
    assert text_of(strings, "none") == b""


def test_many_strings_from_any_offset(strings):
    whole = "".join(f'"number {i}"\n' for i in range(20_000)).encode()
    assert text_of(strings, "many") == whole
    with open(strings.path / "text" / "initializers" / "many.txt", "rb") as file:
        for offset in range(0, len(whole), 9973):
            file.seek(offset)
            assert file.read(100) == whole[offset:offset + 100]


def test_it_is_read_only(viewed):
    mnt, _ = viewed
    path = mnt.path / "text" / "initializers" / "FLOAT" / "cube.txt"
    done = run("sed", "-i", "s/1/2/", path)
    assert done.returncode != 0
    assert run("cp", "/etc/hostname", path).returncode != 0
    assert len(path.read_bytes()) == path.stat().st_size


def test_a_large_one(mount, tmp_path):
    """What is read in pieces of any size is one text."""
    values = numpy.random.default_rng(1).standard_normal(300_001).astype("<f4")
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [300_001], raw=values.tobytes())]))
    with mount(tmp_path / "m.onnx") as mnt:
        content = text_of(mnt, "w")
        assert numpy.array(content.split(), "<f4").tobytes() == values.tobytes()
        assert len(content) % 300_001 == 0
