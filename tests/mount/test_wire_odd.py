"""Encodings that protobuf allows and no exporter writes: each must read like its plain form."""

import errno
import struct

import pytest
from mounting import error_of
from onnx_wire import (END_GROUP, FLOAT, GROUP, INT32, INT64, LENGTH, VARINT, Hole, Message, graph, node,
                       tag, tensor, value_info, varint, write_model)

PAIR = struct.pack("<2f", 1.5, -2.5)
OTHER = struct.pack("<2f", 8.0, 9.0)


def overlong(value, size):
    """A varint of exactly `size` bytes."""
    return bytes(value >> 7 * place & 0x7F | (0x80 if place + 1 < size else 0) for place in range(size))


def group(field, *parts):
    message = Message().raw(tag(field, GROUP))
    for part in parts:
        message.raw(part)
    return message.raw(tag(field, END_GROUP))


def unknown_fields():
    """Fields that no ONNX message has, of every wire type; a group holds what looks like a tensor's fields."""
    inner = group(77, Message().bytes(9, b"not it").varint(2, INT64), group(1, Message().varint(1, 5)))
    return (Message().varint(1000, 1 << 60).fixed32(1001, b"abcd").fixed64(1002, b"abcdefgh")
            .bytes(536870911, b"\xff" * 40).raw(group(1004, inner, Message().bytes(5, b"\x08\x01"))).raw(group(15)))


def float_pair(name):
    return tensor(name, FLOAT, [2], raw=PAIR)


def head(name):
    """A FLOAT tensor of shape [2] that still lacks its data."""
    return tensor(name, FLOAT, [2])


# name: (TensorProto, bytes), all of them sound
SOUND = {
    "plain": (float_pair("plain"), PAIR),
    "raw first": (Message().bytes(9, PAIR).string(8, "raw first").varint(2, FLOAT).varint(1, 2), PAIR),
    "dims last": (Message().varint(2, FLOAT).bytes(9, PAIR).string(8, "dims last").varint(1, 1).varint(1, 2), PAIR),
    "raw twice": (head("raw twice").bytes(9, OTHER).bytes(9, PAIR), PAIR),
    "raw twice, sizes differ": (head("raw twice, sizes differ").bytes(9, b"xyz").bytes(9, PAIR), PAIR),
    "name twice": (tensor("name once", FLOAT, [2], raw=PAIR).string(8, "name twice"), PAIR),
    "type twice": (tensor("type twice", INT64, [2], raw=PAIR).varint(2, FLOAT), PAIR),
    "packed dims": (Message().bytes(1, varint(1) + varint(2)).varint(2, FLOAT).string(8, "packed dims").bytes(9, PAIR),
                    PAIR),
    "mixed dims": (Message().varint(1, 7).bytes(1, b"\x02\x03").varint(1, 9).varint(2, 2).string(8, "mixed dims")
                   .bytes(9, bytes(range(189)) + bytes(189)), bytes(range(189)) + bytes(189)),
    "dims apart": (Message().varint(1, 1).bytes(9, PAIR).bytes(1, b"").varint(2, FLOAT).string(8, "dims apart")
                   .varint(1, 2), PAIR),
    "empty packed dims": (Message().bytes(1, b"").varint(2, FLOAT).string(8, "empty packed dims").bytes(9, PAIR[:4]),
                          PAIR[:4]),
    "overlong tag": (head("overlong tag").raw(overlong(9 << 3 | 2, 3)).raw(varint(8) + PAIR), PAIR),
    "tag of five bytes": (head("tag of five bytes").raw(overlong(9 << 3 | 2, 5)).raw(varint(8) + PAIR), PAIR),
    "tag of ten bytes": (head("tag of ten bytes").raw(overlong(9 << 3 | 2, 10)).raw(varint(8) + PAIR), PAIR),
    "overlong length": (head("overlong length").raw(tag(9, LENGTH) + overlong(8, 4) + PAIR), PAIR),
    "length of ten bytes": (head("length of ten bytes").raw(tag(9, LENGTH) + overlong(8, 10) + PAIR), PAIR),
    "overlong dim": (Message().raw(tag(1, VARINT) + overlong(2, 10)).varint(2, FLOAT).string(8, "overlong dim")
                     .bytes(9, PAIR), PAIR),
    "overlong type": (Message().varint(1, 2).raw(tag(2, VARINT) + overlong(FLOAT, 6)).string(8, "overlong type")
                      .bytes(9, PAIR), PAIR),
    "unknown fields": (Message().raw(unknown_fields()).raw(float_pair("unknown fields")).raw(unknown_fields()), PAIR),
    "raw_data as a varint": (float_pair("raw_data as a varint").varint(9, 5), PAIR),
    "raw_data as a group": (float_pair("raw_data as a group").raw(group(9, Message().varint(1, 1))), PAIR),
    "dims as fixed32": (float_pair("dims as fixed32").fixed32(1, b"\7\0\0\0"), PAIR),
    "data_type as bytes": (float_pair("data_type as bytes").bytes(2, b"\x07"), PAIR),
    "name as fixed64": (float_pair("name as fixed64").fixed64(8, b"12345678"), PAIR),
    "float_data as varints": (float_pair("float_data as varints").varint(4, 3), PAIR),
    "int32_data as fixed32": (tensor("int32_data as fixed32", INT32, [1]).fixed32(5, b"\x09\0\0\0").varint(5, 6),
                              struct.pack("<i", 6)),
    "data_location 7 is unset": (float_pair("data_location 7 is unset").varint(14, 7), PAIR),
    "data_location default": (float_pair("data_location default").varint(14, 0), PAIR),
    "data_location set back": (float_pair("data_location set back").varint(14, 1).varint(14, 0), PAIR),
    "external_data without data_location": (
        float_pair("external_data without data_location")
        .message(13, Message().string(1, "location").string(2, "none")), PAIR),
    "empty external_data": (float_pair("empty external_data").bytes(13, b""), PAIR),
    "zero dim without data": (tensor("zero dim without data", FLOAT, [0, 3]), b""),
    "zero dim with empty raw_data": (tensor("zero dim with empty raw_data", FLOAT, [3, 0], raw=b""), b""),
}

# Served, and named in problems.txt.
ODD = {
    "segment": (float_pair("segment").message(3, Message().varint(1, 0).varint(2, 1)), PAIR),
    "raw and typed": (float_pair("raw and typed").bytes(4, OTHER), PAIR),
    "zero dim with data": (tensor("zero dim with data", FLOAT, [0, 3], raw=PAIR), b""),
}

# Listed, and EIO when opened.
BROKEN = {
    "raw too long": tensor("raw too long", FLOAT, [2], raw=PAIR + b"\0"),
    "raw too short": tensor("raw too short", FLOAT, [2], raw=PAIR[:-1]),
    "raw empty before a full typed field": head("raw empty before a full typed field").bytes(9, b"").bytes(4, PAIR),
    "raw empty after a full typed field": head("raw empty after a full typed field").bytes(4, PAIR).bytes(9, b""),
    "raw twice, the last empty": head("raw twice, the last empty").bytes(9, PAIR).bytes(9, b""),
    "no data": head("no data"),
    "typed too few": head("typed too few").bytes(4, PAIR[:4]),
    "typed too many": head("typed too many").bytes(4, PAIR).bytes(4, PAIR[:4]),
    "typed varints too few": tensor("typed varints too few", INT32, [3]).packed_varints(5, [1, 2]),
    "typed varints too many": tensor("typed varints too many", INT32, [1]).packed_varints(5, [1, 2]),
    "another type's field": head("another type's field").packed_varints(5, [1, 2]),
    "uint32 in int32_data": tensor("uint32 in int32_data", 12, [2]).packed_varints(5, [1, 2]),
    "int4, one entry an element": tensor("int4, one entry an element", 22, [4]).packed_varints(5, [1, 2, 3, 4]),
    "one entry for a complex": tensor("one entry for a complex", 14, [1]).bytes(4, PAIR[:4]),
    "negative dim": tensor("negative dim", FLOAT, [-1, -2], raw=PAIR),
    "product overflow": tensor("product overflow", FLOAT, [1 << 62, 4], raw=b""),
    "product overflow to the right size": tensor("product overflow to the right size", FLOAT, [(1 << 62) + 1, 4],
                                                 raw=PAIR * 2),
    "byte count overflow": tensor("byte count overflow", 11, [1 << 61], raw=b""),
    "huge without data": tensor("huge without data", FLOAT, [1 << 50]),
    "external and no external_data": head("external and no external_data").varint(14, 1),
    "data_location 7 does not unset": float_pair("data_location 7 does not unset").varint(14, 1).varint(14, 7),
}


@pytest.fixture(scope="module")
def odd(mount, tmp_path_factory):
    """Two occurrences of the graph with the opset between them, unknown fields everywhere, and all tensors above."""
    tensors = [message for message, _ in [*SOUND.values(), *ODD.values()]] + list(BROKEN.values())
    half = len(tensors) // 2
    first = Message().raw(unknown_fields()).string(2, "first name")
    for part in tensors[:half]:
        first.raw(unknown_fields()).message(5, part)
    second = Message()
    for part in tensors[half:]:
        second.message(5, part)
    second.message(11, value_info("x", FLOAT, [1])).string(2, "last name").message(1, node("Identity", ["x"], ["y"]))
    whole = (Message().message(8, Message().varint(2, 17)).raw(unknown_fields()).message(7, first).varint(1, 8)
             .raw(tag(7, VARINT) + b"\x05").message(7, second).string(2, "writer").raw(unknown_fields()))
    model = tmp_path_factory.mktemp("odd") / "odd.onnx"
    model.write_bytes(whole.to_bytes())
    with mount(model) as mnt:
        yield mnt


@pytest.mark.parametrize("name", [*SOUND, *ODD])
def test_served(odd, name):
    payload = {**SOUND, **ODD}[name][1]
    assert odd.bytes(name) == payload
    assert odd.file(name).stat().st_size == len(payload)
    assert odd.json(name)["name"] == name


def test_merged_dims(odd):
    assert odd.json("mixed dims")["shape"] == [7, 2, 3, 9]
    assert odd.json("dims apart")["shape"] == [1, 2]
    assert odd.json("empty packed dims")["shape"] == []


@pytest.mark.parametrize("name", BROKEN)
def test_broken_is_listed_and_gives_eio(odd, name):
    assert error_of(open, odd.file(name), "rb") == errno.EIO
    found = odd.json(name)
    assert found["name"] == name
    assert isinstance(found["problem"], str) and found["problem"]
    assert any(name in line for line in odd.problems())


def test_problems_name_the_odd_and_only_them(odd):
    lines = odd.problems()
    for name in ODD:
        assert any(name in line for line in lines), name
    for name in SOUND:
        assert not any(line.startswith((name + ":", f"initializers/{name}.bin")) for line in lines), name


def test_every_tensor_once(odd):
    names = sorted(entry.name for entry in (odd.path / "initializers").iterdir())
    assert names == sorted(name + suffix for name in [*SOUND, *ODD, *BROKEN] for suffix in (".bin", ".json"))


def test_graph_is_merged(odd):
    assert "last name" in odd.text("model.json") and "first name" not in odd.text("model.json")
    assert [line for line in odd.text("graph.txt").splitlines() if "Identity" in line]


def test_graph_alone_is_a_model(mount, tmp_path):
    model = tmp_path / "m.onnx"
    model.write_bytes(Message().message(7, graph([float_pair("w")])).to_bytes())
    with mount(model) as mnt:
        assert mnt.bytes("w") == PAIR


def test_a_model_whose_fields_have_wrong_wire_types(mount, tmp_path):
    """They are unknown fields. With field 2 as a number it might be a tensor at first sight, but it has a graph."""
    model = tmp_path / "m.onnx"
    model.write_bytes(Message().varint(1, 8).varint(2, 1).varint(8, 3).fixed32(7, b"abcd").message(
        7, graph([float_pair("w")], nodes=[node("Identity", ["x"], ["y"])])).to_bytes())
    with mount(model) as mnt:
        assert mnt.bytes("w") == PAIR


def test_tensor_behind_a_hole_of_3_gb(mount, tmp_path):
    """Nothing between the tensors is read: offsets beyond 31 and 32 bits hold."""
    size = 3 << 30
    model = tmp_path / "m.onnx"
    tensors = [float_pair("before"), tensor("hole", FLOAT, [size // 4], raw=Hole(size)), float_pair("between"),
               tensor("hole2", 2, [size], raw=Hole(size)), tensor("behind", FLOAT, [2], raw=OTHER)]
    write_model(model, graph(tensors, nodes=[node("Identity", ["x"], ["y"])]))
    with mount(model) as mnt:
        assert [mnt.bytes(name) for name in ("before", "between", "behind")] == [PAIR, PAIR, OTHER]
        assert mnt.json("behind")["offset"] > 2 * size
        for name in ("hole", "hole2"):
            assert mnt.file(name).stat().st_size == size
            with open(mnt.file(name), "rb") as file:
                file.seek(size - 5)
                assert file.read() == b"\0" * 5
        with open(model, "rb") as file:
            file.seek(mnt.json("behind")["offset"])
            assert file.read(8) == OTHER


def test_external_file_of_5_gb(mount, tmp_path):
    model = tmp_path / "m.onnx"
    offset = (5 << 30) + 3
    with open(tmp_path / "m.data", "wb") as file:
        file.seek(offset)
        file.write(PAIR)
    write_model(model, graph([tensor("far", FLOAT, [2], external=[("location", "m.data"), ("offset", str(offset))]),
                              tensor("all", 2, [offset + 8], external=[("location", "m.data")])]))
    with mount(model) as mnt:
        assert mnt.bytes("far") == PAIR
        assert mnt.file("all").stat().st_size == offset + 8
        with open(mnt.file("all"), "rb") as file:
            file.seek(-8, 2)
            assert file.read() == PAIR
