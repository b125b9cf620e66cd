"""Large tensors whose bytes do not stand in one piece: put together on demand, and still read at any offset."""

import errno
import os
import random

import numpy
import pytest
from datatypes import BY_NAME, pack, packed, string_payload, unpacked
from mounting import SLOWNESS, anonymous_memory, error_of
from onnx_wire import graph, tensor, varint, write_model

LARGE = 330_007  # elements; more than any sensible block of a decoder's cache
WIDE = {"INT64": lambda r: varint(r.getrandbits(r.choice((6, 20, 40, 63))) * r.choice((1, -1))),
        "INT8": lambda r: varint(r.randrange(-128, 128)),
        "FLOAT16": lambda r: varint(r.getrandbits(16)),
        "FLOAT6E3M2": lambda r: varint(r.getrandbits(6)),
        "BOOL": lambda r: varint(r.getrandbits(1)),
        "UINT32": lambda r: varint(r.getrandbits(32)),
        "FLOAT": lambda r: r.randbytes(4)}
SEVERAL = ("INT64", "FLOAT6E3M2", "FLOAT")  # unpacked and in runs too


def payload_of(row, encoded):
    if row.field == "float_data":
        return b"".join(encoded)
    values = [sum((byte & 0x7F) << 7 * place for place, byte in enumerate(entry)) for entry in encoded]
    return pack(row.bits, [value & (1 << row.bits) - 1 for value in values])


@pytest.fixture(scope="module")
def large(mount, tmp_path_factory):
    """Large tensors in varint fields, packed, unpacked and in runs; yields the mount and the payloads."""
    generator = random.Random(21)
    tensors, payloads = [], {}
    for kind, make in WIDE.items():
        row = BY_NAME[kind]
        encoded = [make(generator) for _ in range(LARGE)]
        payload = payload_of(row, encoded)
        forms = {"packed": [packed(row, encoded)]}
        if kind in SEVERAL:
            forms["unpacked"] = [unpacked(row, encoded)]
            forms["runs"] = [packed(row, encoded[at:at + 70_001]) for at in range(0, LARGE, 70_001)]
            forms["short runs"] = [packed(row, encoded[at:at + 37]) for at in range(0, LARGE, 37)]
        for form, parts in forms.items():
            message = tensor(f"{kind}.{form}", row.number, [LARGE])
            for part in parts:
                message.raw(part)
            tensors.append(message)
            payloads[f"{kind}.{form}"] = payload
    strings = [generator.randbytes(generator.choice((0, 1, 5, 60))) for _ in range(60_000)] + [b"long" * 70_000, b"end"]
    message = tensor("STRING", 8, [len(strings)])
    for text in strings:
        message.bytes(6, text)
    tensors.append(message)
    payloads["STRING"] = string_payload(strings)
    model = tmp_path_factory.mktemp("large") / "large.onnx"
    write_model(model, graph(tensors))
    with mount(model) as mnt:
        yield mnt, payloads


LARGE_NAMES = ["STRING", *(f"{kind}.packed" for kind in WIDE),
               *(f"{kind}.{form}" for kind in SEVERAL for form in ("unpacked", "runs", "short runs"))]


@pytest.mark.parametrize("flags", [os.O_DIRECT, 0], ids=["direct", "buffered"])
@pytest.mark.parametrize("name", LARGE_NAMES)
def test_random_reads_of_a_decoded_tensor(large, name, flags):
    """Any offset and length, aligned to nothing, the end first."""
    mnt, payloads = large
    payload = payloads[name]
    generator = random.Random(22)
    fd = os.open(mnt.file(name), os.O_RDONLY | flags)
    try:
        assert os.fstat(fd).st_size == len(payload)
        for turn in range(150):
            length = generator.choice((1, 3, 8, 4096, 70_000))
            offset = len(payload) - 5 if turn == 0 else generator.randrange(len(payload))
            assert os.pread(fd, length, offset) == payload[offset:offset + length], (offset, length)
        assert os.pread(fd, 10, len(payload)) == b""
        assert os.pread(fd, 10, len(payload) + 4097) == b""
    finally:
        os.close(fd)
    assert mnt.bytes(name) == payload


@pytest.mark.skipif(SLOWNESS > 1, reason="sanitizers take memory of their own")
def test_memory_is_bounded(mount, tmp_path):
    """Reading 192 MB that stand in 24 MB of varints costs the daemon a cache, not the tensor."""
    values = random.Random(23).randbytes(1 << 20).translate(bytes(byte & 0x7F for byte in range(256)))
    repeats = 24
    write_model(tmp_path / "m.onnx", graph([tensor("w", 7, [len(values) * repeats]).bytes(7, values * repeats)]))
    wanted = numpy.frombuffer(values, numpy.uint8).astype("<i8").tobytes()
    with mount(tmp_path / "m.onnx") as mnt:
        with open(mnt.file("w"), "rb", buffering=0) as file:
            for _ in range(repeats):
                got = b""
                while len(got) < len(wanted):
                    piece = file.read(len(wanted) - len(got))
                    assert piece, "the file ends early"
                    got += piece
                assert got == wanted
        assert anonymous_memory(mnt.pid) < 48 << 10


def test_numpy_maps_a_decoded_tensor(large):
    mnt, payloads = large
    mapped = numpy.memmap(mnt.file("INT64.packed"), "<i8", mode="r")
    wanted = numpy.frombuffer(payloads["INT64.packed"], "<i8")
    assert mapped.shape == (LARGE,)
    assert numpy.array_equal(mapped[::-997], wanted[::-997])
    assert numpy.array_equal(mapped, wanted)


def test_json_of_a_large_tensor_names_its_type(large):
    mnt, payloads = large
    found = mnt.json("FLOAT6E3M2.runs")
    assert (found["elements"], found["nbytes"]) == (LARGE, len(payloads["FLOAT6E3M2.runs"]))


@pytest.mark.parametrize("first", [".json", ".bin"])
@pytest.mark.parametrize("name", ["one too few", "one too many", "ends inside a varint"])
def test_a_wrong_count_that_only_decoding_shows(mount, tmp_path, name, first):
    """Too large to be counted at mount time: found when the tensor is first opened, and then told everywhere."""
    encoded = [varint(value % 300) for value in range(LARGE)]
    wrong = {"one too few": encoded[1:], "one too many": [*encoded, b"\0"],
             "ends inside a varint": [*encoded[:-1], b"\x80"]}[name]
    row = BY_NAME["INT32"]
    write_model(tmp_path / "m.onnx", graph([tensor("w", 6, [LARGE]).raw(packed(row, wrong)),
                                            tensor("sound", 6, [LARGE]).raw(packed(row, encoded))]))
    with mount(tmp_path / "m.onnx") as mnt:
        if first == ".json":
            assert mnt.json("w")["problem"]
        assert error_of(open, mnt.file("w"), "rb") == errno.EIO
        assert mnt.json("w")["problem"]
        assert [line for line in mnt.problems() if "w" in line]
        assert "problems.txt" in os.listdir(mnt.path)
        assert len(mnt.bytes("sound")) == 4 * LARGE and mnt.json("sound")["problem"] is None
