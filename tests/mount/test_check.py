"""`onnxfs check`: the lines of problems.txt, and what only reading shows; 0 sound, 1 not, 2 trouble."""

import struct

import pytest
from mounting import onnxfs
from onnx_wire import FLOAT, INT4, INT64, Message, graph, tensor, write_model


def raw(*values):
    return struct.pack(f"<{len(values)}f", *values)


@pytest.fixture
def checked(mount, tmp_path):
    """(exit status, lines) of the check of a model; the mount has to say the same."""

    def checked(*initializers, same=True):
        path = tmp_path / "m.onnx"
        write_model(path, graph(initializers))
        done = onnxfs("check", path)
        assert done.stderr == ""
        with mount(path) as mnt:
            if same:
                assert mnt.problems() == done.stdout.splitlines()
        return done.returncode, done.stdout.splitlines()

    return checked


def external(name, offset, length, location="d.bin"):
    return tensor(name, FLOAT, [length // 4], external=[("location", location), ("offset", str(offset)), ("length", str(length))])


def one(result, *words):
    status, lines = result
    assert status == 1 and len(lines) == 1, result
    for word in words:
        assert word in lines[0], lines


def test_sound(checked):
    assert checked(tensor("w", FLOAT, [1], raw=raw(1))) == (0, [])


def test_size(checked):
    one(checked(tensor("a/w", FLOAT, [2], raw=raw(1))), "initializers/a/w:", "raw_data", "4 bytes", "offset")


def test_both_fields(checked):
    one(checked(tensor("w", FLOAT, [1], raw=raw(1)).bytes(4, raw(2))), "initializers/w:", "float_data")


def test_duplicates(checked):
    one(checked(*[tensor("w", FLOAT, [1], raw=raw(i)) for i in range(2)]), "initializers/w@2:")


def test_segment(checked):
    one(checked(tensor("w", FLOAT, [1], raw=raw(1)).message(3, Message().varint(1, 0))), "segment")


def test_missing_and_refused_files(checked):
    one(checked(external("w", 0, 4, "no.bin")), "initializers/w:", "no.bin")
    one(checked(external("w", 0, 4, "../no.bin")), "initializers/w:", "../no.bin")


def test_padding(checked):
    assert checked(tensor("w", INT4, [3], raw=b"\x21\x03")) == (0, [])
    one(checked(tensor("w", INT4, [3], raw=b"\x21\x13")), "initializers/w:", "not zero")
    one(checked(tensor("w", 27, [3], raw=b"\xff\xff\x07")), "not zero")


def test_gaps(checked, tmp_path):
    (tmp_path / "d.bin").write_bytes(bytes(8100))
    # 4 … 4096 aligns the second tensor; 4100 … 5000 belongs to nobody, nor does what is behind the third.
    one(checked(external("a", 0, 4), external("b", 4096, 4), external("c", 5000, 100)), '"d.bin"', "3900 bytes", "gaps", "4100")
    (tmp_path / "d.bin").write_bytes(bytes(8192))
    assert checked(external("a", 0, 4), external("b", 4096, 4)) == (0, [])


def test_overlaps(checked, tmp_path):
    (tmp_path / "d.bin").write_bytes(bytes(16))
    assert checked(external("a", 0, 16), external("tied", 0, 16)) == (0, [])
    one(checked(external("a", 0, 12), external("b", 8, 8)), "initializers/b:", "another tensor")


def test_what_only_reading_shows(checked):
    message = tensor("w", INT64, [5000]).packed_varints(7, [300] * 4999)
    one(checked(message, same=False), "initializers/w:", "4999", "5000")


def test_trouble(tmp_path):
    assert onnxfs("check", tmp_path / "no.onnx").returncode == 2
    (tmp_path / "zip.onnx").write_bytes(b"PK\x03\x04" + bytes(20))
    done = onnxfs("check", tmp_path / "zip.onnx")
    assert done.returncode == 2 and "zip" in done.stderr and done.stdout == ""
    assert onnxfs("check").returncode == 2
