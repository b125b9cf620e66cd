"""Files of values (.pb): which message they are, and what is in them."""

import json
import struct

import pytest
from mounting import refusal
from onnx_wire import FLOAT, INT64, STRING, Message, graph, model, tensor, value_info


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def weight(name, *values):
    return tensor(name, FLOAT, [len(values)], raw=floats(*values))


def sequence(elem_type, *values, name="seq"):
    message = Message().string(1, name).varint(2, elem_type)
    for value in values:
        message.message(elem_type + 2, value)
    return message


def number_map(*pairs):
    message = Message().string(1, "m").varint(2, INT64).packed_varints(3, [key for key, _ in pairs])
    return message.message(5, sequence(1, *[value for _, value in pairs]))


def string_map(*pairs):
    message = Message().string(1, "m").varint(2, STRING)
    for key, _ in pairs:
        message.bytes(4, key)
    return message.message(5, sequence(1, *[value for _, value in pairs]))


@pytest.fixture
def values(mount, tmp_path):
    """(message, {path: bytes}) of a file of values."""

    def values(message, name="v.pb"):
        path = tmp_path / name
        path.write_bytes(message.to_bytes())
        with mount(path) as mnt:
            found = {str(p.relative_to(mnt.path / "values"))[:-4]: p.read_bytes() for p in mnt.path.rglob("*.bin")}
            folders = {str(p.relative_to(mnt.path / "values")) for p in (mnt.path / "values").rglob("*") if p.is_dir()}
            assert not (mnt.path / "graph.txt").exists()
            assert mnt.problems() == []
            return json.loads(mnt.text("model.json"))["message"], found, folders

    return values


def test_tensor(values):
    assert values(weight("a/b", 1, 2)) == ("TensorProto", {"a/b": floats(1, 2)}, {"a"})
    assert values(weight("", 1)) == ("TensorProto", {"unnamed": floats(1)}, set())


def test_int64_data_that_could_be_a_graph(values):
    message = Message().varint(1, 2).varint(2, INT64).packed_varints(7, [10, 0]).string(8, "n")
    assert values(message) == ("TensorProto", {"n": struct.pack("<2q", 10, 0)}, set())


def test_sequences(values):
    two = sequence(1, weight("x", 1), weight("y", 2))
    assert values(two) == ("SequenceProto", {"0": floats(1), "1": floats(2)}, set())
    one = sequence(1, weight("x", 1))
    assert values(one) == ("SequenceProto or OptionalProto", {"0": floats(1)}, set())
    assert values(sequence(1)) == ("SequenceProto or OptionalProto", {}, set())
    assert values(Message().string(1, "optional_input").varint(2, 0)) == ("SequenceProto or OptionalProto", {}, set())


def test_maps(values):
    assert values(number_map((5, weight("", 1)), (-6, weight("", 2)))) == (
        "MapProto", {"keys": struct.pack("<2q", 5, -6), "0": floats(1), "1": floats(2)}, set())
    assert values(string_map((b"a", weight("", 1)))) == ("MapProto", {"keys": b"\1\0\0\0a", "0": floats(1)}, set())


def test_nested(values):
    inner = sequence(1, weight("", 1), weight("", 2))
    message = sequence(3, inner, sequence(1), sequence(4, number_map((7, weight("", 3))), number_map()))
    assert values(message) == ("SequenceProto", {
        "0/0": floats(1), "0/1": floats(2), "2/0/keys": struct.pack("<q", 7), "2/0/0": floats(3), "2/1/keys": b"",
    }, {"0", "1", "2", "2/0", "2/1"})
    optional = sequence(5, sequence(1, weight("", 9)), sequence(1))
    assert values(optional)[1] == {"0/0": floats(9)}


def test_sparse(values):
    indices = tensor("", INT64, [1], raw=bytes(8))
    message = Message().message(1, weight("sp", 4)).message(2, indices).varint(3, 5)
    assert values(message) == ("SparseTensorProto", {"sp/values": floats(4), "sp/indices": bytes(8)}, {"sp"})
    assert values(sequence(2, message, message))[1].keys() == {"0/values", "0/indices", "1/values", "1/indices"}


def test_depth(values):
    message = sequence(1, weight("", 1), weight("", 2))
    for _ in range(60):
        message = sequence(3, message, message) if message.size < 10_000 else sequence(3, message, sequence(1))
    kind, found, _ = values(message)
    assert kind == "SequenceProto" and len(found) >= 2


@pytest.mark.parametrize("kind, word", [(4, "SequenceProto"), (9, "OptionalProto")])
def test_settled_by_the_model_beside(values, tmp_path, kind, word):
    (tmp_path / "test_data_set_0").mkdir()
    other = value_info("a", FLOAT, [1])
    typed = Message().string(1, "b").message(2, Message().message(kind, Message().message(1, Message().message(1, Message().varint(1, 1)))))
    (tmp_path / "model.onnx").write_bytes(model(graph(inputs=[other, typed], outputs=[typed])).to_bytes())
    assert values(sequence(1, weight("x", 1)), "test_data_set_0/input_1.pb")[0] == word
    assert values(sequence(1, weight("x", 1)), "test_data_set_0/output_0.pb")[0] == word
    assert values(sequence(1, weight("x", 1)), "test_data_set_0/input_0.pb")[0] == "SequenceProto or OptionalProto"


def test_a_model_in_pb(mount, tmp_path):
    path = tmp_path / "saved.pb"
    path.write_bytes(model(graph([weight("w", 1)])).to_bytes())
    with mount(path) as mnt:
        assert mnt.bytes("w") == floats(1)


def test_none_of_them(tmp_path):
    path = tmp_path / "v.pb"
    for content in (b"\x08\x01\x10\x01", b"\x0a\x03abc\x10\x63", b"\xff" * 40):
        path.write_bytes(content)
        assert str(path) in refusal(path, tmp_path / "mnt")
