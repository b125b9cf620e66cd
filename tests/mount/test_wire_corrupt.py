"""Files that are no protobuf, or end too early: refused in one line that says where, never a crash or a wrong byte."""

import errno
import re
import struct

import pytest
from mounting import error_of, one_line, refusal, tried
from onnx_wire import (END_GROUP, FLOAT, GROUP, INT32, LENGTH, VARINT, Message, graph, node, tag, tensor, value_info,
                       varint)

PAIR = struct.pack("<2f", 1.5, -2.5)


def in_tensor(junk):
    return in_graph(Message().message(5, tensor("w", FLOAT, [2], raw=PAIR).raw(junk)))


def in_graph(junk):
    return in_model(Message().message(7, graph([tensor("v", FLOAT, [2], raw=PAIR)]).raw(junk)))


def in_model(junk):
    return Message().varint(1, 8).message(7, graph([tensor("u", FLOAT, [2], raw=PAIR)])).raw(junk).string(2, "x")


JUNK = {
    "field number 0": b"\x02\x00",
    "a zero byte": b"\x00",
    "wire type 6": bytes([1 << 3 | 6]) + b"\0" * 8,
    "wire type 7": bytes([1 << 3 | 7]) + b"\0" * 8,
    "unmatched end of a group": tag(9, END_GROUP),
    "group that ends with another number": tag(1000, GROUP) + tag(1001, END_GROUP),
    "group without an end": tag(1000, GROUP) + b"\x08\x01",
    "varint of eleven bytes": tag(1000, VARINT) + b"\x80" * 10 + b"\x00",
    "tag of eleven bytes": b"\xfa" + b"\x80" * 9 + b"\x00\x00",
    "length of eleven bytes": tag(1000, LENGTH) + b"\x81" + b"\x80" * 9 + b"\x00a",
    "length past the end": tag(1000, LENGTH) + varint(1 << 20) + b"abc",
    "length of 2^63": tag(1000, LENGTH) + varint(1 << 63) + b"abc",
    "length of 2^64 - 1": tag(1000, LENGTH) + varint((1 << 64) - 1) + b"abc",
    "raw_data past the end": tag(9, LENGTH) + varint(1 << 40) + b"abc",
    "dims past the end": tag(1, LENGTH) + varint(1 << 40) + b"\1\1",
}


def offset_in(line, model):
    """The byte offset that an error names."""
    numbers = re.findall(r"(?:offset|byte|at)\D{0,12}(0x[0-9a-fA-F]+|\d+)", line.replace(str(model), ""))
    assert numbers, f"no offset in: {line}"
    return int(numbers[0], 0)


def refused_at(model, mnt):
    """The offset in the one line with which a model is refused."""
    line = refusal(model, mnt)
    assert model.name in line
    return offset_in(line, model)


@pytest.mark.parametrize("place", [in_tensor, in_graph, in_model])
@pytest.mark.parametrize("name", JUNK)
def test_corrupt(tmp_path, name, place):
    model = tmp_path / "m.onnx"
    content = place(JUNK[name]).to_bytes()
    model.write_bytes(content)
    start = content.rindex(JUNK[name])
    offset = refused_at(model, tmp_path / "mnt")
    assert start - 1 <= offset <= start + len(JUNK[name]) + 4, f"offset {offset}, the damage starts at {start}"


SMALL = (Message().varint(1, 8).message(7, graph(
    [tensor("w", FLOAT, [2, 1], raw=PAIR), tensor("i", INT32, [3]).packed_varints(5, [1, -1, 300]),
     tensor("e", FLOAT, [2], external=[("location", "w.data")])],
    nodes=[node("Add", ["x", "w"], ["y"], "add")], inputs=[value_info("x", FLOAT, ["n"])])))
TAIL = [Message().message(8, Message().varint(2, 17)).to_bytes(), Message().string(2, "someone").to_bytes()]


@pytest.mark.limit(90)
def test_truncated_at_every_byte(tmp_path):
    """A prefix is refused, unless it happens to end between two fields of the model."""
    (tmp_path / "w.data").write_bytes(PAIR)
    model = tmp_path / "m.onnx"
    content = SMALL.to_bytes() + b"".join(TAIL)
    whole = {SMALL.size, SMALL.size + len(TAIL[0]), len(content)}
    mounted = set()
    for size in range(len(content) + 1):
        model.write_bytes(content[:size])
        if size in whole:
            with tried(model, tmp_path / "mnt") as (mnt, done):
                assert mnt, done.stderr
                assert (mnt.bytes("w"), mnt.bytes("e")) == (PAIR, PAIR)
                assert mnt.bytes("i") == struct.pack("<3i", 1, -1, 300)
                mounted.add(size)
        elif size in (0, 2):  # nothing, or no more than a version: whatever it says, it is refused
            refusal(model, tmp_path / "mnt")
        else:
            assert refused_at(model, tmp_path / "mnt") <= size
    assert mounted == whole


def flatten(message):
    """The bytes of a message nested deeper than Python's own stack allows."""
    out, stack = bytearray(), [message]
    while stack:
        part = stack.pop()
        if isinstance(part, (bytes, bytearray)):
            out += part
        else:
            stack.extend(reversed(part.parts))
    return bytes(out)


@pytest.mark.parametrize("depth", [200, 1_000_000])
def test_deep_groups_do_not_overflow_a_stack(tmp_path, depth):
    model = tmp_path / "m.onnx"
    model.write_bytes(in_tensor(tag(1000, GROUP) * depth + tag(1000, END_GROUP) * depth).to_bytes())
    with tried(model, tmp_path / "mnt") as (mnt, done):
        assert done.returncode >= 0, f"ended by signal {-done.returncode}"
        assert mnt is None or mnt.bytes("w") == PAIR


def test_deep_subgraphs_do_not_overflow_a_stack(tmp_path):
    body = graph([tensor("w", FLOAT, [2], raw=PAIR)])
    for _ in range(3000):
        attribute = Message().string(1, "body").message(6, body).varint(20, 5)
        body = graph([tensor("w", FLOAT, [2], raw=PAIR)], nodes=[node("Loop", ["x"], ["y"], attributes=[attribute])])
    model = tmp_path / "m.onnx"
    model.write_bytes(flatten(Message().varint(1, 8).message(7, body)))
    with tried(model, tmp_path / "mnt") as (mnt, done):
        assert done.returncode >= 0, f"ended by signal {-done.returncode}"
        assert mnt is None or mnt.bytes("w") == PAIR


def test_packed_floats_that_end_inside_a_float(tmp_path):
    """protobuf refuses the file; a mount that shows it must not serve the tensor."""
    model = tmp_path / "m.onnx"
    model.write_bytes(in_graph(Message().message(5, tensor("w", FLOAT, [2]).bytes(4, PAIR[:7]))).to_bytes())
    with tried(model, tmp_path / "mnt") as (mnt, done):
        if mnt:
            assert error_of(open, mnt.file("w"), "rb") == errno.EIO
            assert mnt.bytes("v") == PAIR
        else:
            assert offset_in(one_line(done), model)


@pytest.mark.parametrize("field, file", [(1, "graph.txt"), (11, "model.json"), (12, "model.json")],
                         ids=["node", "input", "output"])
def test_damage_that_is_in_no_tensor(tmp_path, field, file):
    """Refused with its offset; or the tensors work, and problems.txt tells what else is wrong."""
    model = tmp_path / "m.onnx"
    model.write_bytes(in_graph(Message().bytes(field, b"\x0a\x7f")).to_bytes())
    with tried(model, tmp_path / "mnt") as (mnt, done):
        if mnt:
            assert mnt.bytes("v") == PAIR
            assert error_of((mnt.path / file).read_bytes) in (None, errno.EIO)
            assert len(mnt.problems()) == 1 and offset_in(mnt.problems()[0], model)
        else:
            assert offset_in(one_line(done), model)


def test_a_packed_varint_that_does_not_end(tmp_path):
    """Found at mount or at the read of that tensor; never bytes of the neighbour."""
    model = tmp_path / "m.onnx"
    model.write_bytes(in_graph(Message().message(5, tensor("w", INT32, [2]).bytes(5, b"\x01\x80"))
                               .message(5, tensor("z", INT32, [1]).bytes(5, b"\x07"))).to_bytes())
    with tried(model, tmp_path / "mnt") as (mnt, done):
        if mnt:
            assert error_of(mnt.bytes, "w") == errno.EIO
            assert mnt.bytes("z") == struct.pack("<i", 7)
        else:
            assert offset_in(one_line(done), model)
