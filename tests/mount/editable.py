"""A model with a tensor of every storage, for the tests that edit: what they are, and fresh bytes to put into them.

The paths are those in the mount, without a suffix. Names and payloads are a function of nothing but this file.
"""

import os
import random
import struct
from dataclasses import dataclass

from datatypes import BY_NAME, TABLE, count, entries, pack, packed, random_patterns, string_payload, unpacked
from editing import opened
from onnx_wire import FLOAT, STRING, Message, graph, model, node, tensor, value_info

STRINGS = (b"one", b"", "zw\u00f6lf".encode(), b"\0\xff", b"x" * 300)


@dataclass(frozen=True)
class Editable:
    path: str
    payload: bytes
    shape: tuple
    dtype: str
    storage: str  # as its JSON has it

    @property
    def is_strings(self):
        return self.dtype == "string"

    def well_formed(self, data, offset=0):
        """Of bytes that are to stand at an offset: with the bits cleared that the type leaves unused."""
        row = next(row for row in TABLE if row.name == self.dtype)
        if row.onnx == "BOOL":
            return bytes(byte & 1 for byte in data)
        used = row.bits * count(self.shape) % 8
        if used and offset + len(data) == len(self.payload):
            return data[:-1] + bytes([data[-1] & (1 << used) - 1])
        return data


def split_strings(payload):
    out, at = [], 0
    while at < len(payload):
        size, = struct.unpack_from("<I", payload, at)
        out.append(payload[at + 4:at + 4 + size])
        assert len(out[-1]) == size
        at += 4 + size
    return out


def other_payload(editable, random):
    """A payload that may take the place of a tensor's, of any size for strings."""
    if editable.is_strings:
        return string_payload([random.randbytes(random.choice((0, 1, 5, 300)))
                               for _ in split_strings(editable.payload)])
    return editable.well_formed(random.randbytes(len(editable.payload)))


class Maker:
    """Collects tensors in the places that a model has for them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tensors = []
        self.data = bytearray(b"head")  # of the data file; offsets are aligned to nothing

    def note(self, path, payload, shape, row, storage):
        self.tensors.append(Editable(path, payload, tuple(shape), row.name, storage))

    def make(self, folder, name, type_name, shape, how):
        """A TensorProto; `how`: raw_data, packed, unpacked, runs, or external."""
        row = BY_NAME[type_name]
        patterns = random_patterns(row, count(shape), self.random)
        payload = pack(row.bits, patterns)
        self.note(f"{folder}/{name}", payload, shape, row, row.field if how in ("packed", "unpacked", "runs") else how)
        inner = name.rpartition("/")[2] if folder.startswith("attributes") else name
        if how == "raw_data":
            return tensor(inner, row.number, shape, raw=payload)
        if how == "external":
            place = [("location", "m.data"), ("offset", str(len(self.data))), ("length", str(len(payload)))]
            self.data += payload + b"gap"
            return tensor(inner, row.number, shape, external=place)
        encoded = entries(row, patterns)
        third = len(encoded) // 3
        data = {"packed": lambda: packed(row, encoded), "unpacked": lambda: unpacked(row, encoded),
                "runs": lambda: packed(row, encoded[:third]).raw(unpacked(row, encoded[third:]))}[how]()
        return tensor(inner, row.number, shape).raw(data).string(12, f"about {name}")

    def strings(self, folder, name, values=STRINGS):
        self.note(f"{folder}/{name}", string_payload(values), [len(values)], BY_NAME["STRING"], "string_data")
        message = tensor(name, STRING, [len(values)])
        for value in values:
            message.bytes(6, value)
        return message

    def list_attribute(self, place, name, field, kind, values, row):
        payload = {8: lambda: struct.pack(f"<{len(values)}q", *values),
                   7: lambda: struct.pack(f"<{len(values)}f", *values),
                   9: lambda: string_payload(values)}[field]()
        self.note(f"{place}/{name}", payload, [len(values)], row, "attribute")
        message = Message().string(1, name)
        for value in values:
            if field == 8:
                message.varint(8, value)
            elif field == 7:
                message.fixed32(7, struct.pack("<f", value))
            else:
                message.bytes(9, value)
        return message.varint(20, kind)


def tensor_attribute(name, message):
    return Message().string(1, name).message(5, message).varint(20, 4)


def initializers(make):
    def at(name, type_name, shape, how):
        return make.make("initializers", name, type_name, shape, how)

    yield at("raw", "FLOAT", [50, 30], "raw_data")
    yield at("large", "FLOAT", [75_001], "raw_data")
    yield at("scalar", "FLOAT", [], "raw_data")
    yield at("bytes", "UINT8", [4097], "raw_data")
    for how in ("packed", "unpacked", "runs"):
        yield at(f"float/{how}", "FLOAT", [7, 300], how)
        yield at(f"double/{how}", "DOUBLE", [331], how)
        yield at(f"int64/{how}", "INT64", [3, 101], how)
    for row in TABLE:
        if row.field in ("int32_data", "uint64_data"):
            yield at(f"typed/{row.onnx}", row.onnx, [3, 5, 9], "packed")
    yield at("int32/large", "INT32", [30_000], "packed")
    yield at("external/a", "FLOAT", [1500], "external")
    yield at("external/b", "INT8", [4099], "external")
    yield at("external/c", "FLOAT16", [60_001], "external")
    yield make.strings("initializers", "strings")


def nodes(make):
    yield node("Constant", [], ["c"], "const", [
        tensor_attribute("value", make.make("attributes", "const/value", "FLOAT", [40], "raw_data"))])
    yield node("Constant", [], ["f"], "floats", [
        make.list_attribute("attributes/floats", "value_floats", 7, 6, [float(i) for i in range(9)], BY_NAME["FLOAT"])])
    yield node("Trees", ["x"], ["t"], "trees", [
        make.list_attribute("attributes/trees", "weights", 7, 6, [i / 8 for i in range(100)], BY_NAME["FLOAT"]),
        make.list_attribute("attributes/trees", "ids", 8, 7, [i * i - 40 for i in range(70)], BY_NAME["INT64"]),
        make.list_attribute("attributes/trees", "modes", 9, 8, [b"LEAF", b"", b"BRANCH_LEQ"], BY_NAME["STRING"])],
        domain="ai.onnx.ml")
    inner = graph([make.make("subgraphs/if/then_branch/initializers", "deep/w", "FLOAT", [33], "raw_data"),
                   make.make("subgraphs/if/then_branch/initializers", "deep/i", "INT64", [21], "packed")], name="then")
    yield node("If", ["x"], ["y"], "if", [Message().string(1, "then_branch").message(6, inner).varint(20, 5)])


def whole_model(make):
    main = graph(list(initializers(make)), list(nodes(make)), [value_info("x", FLOAT, [1])],
                 [value_info("y", FLOAT, ["n"])])
    values = make.make("sparse_initializers/s", "values", "FLOAT", [6], "raw_data")
    indices = make.make("sparse_initializers/s", "indices", "INT64", [6], "packed")
    # A sparse tensor is named by its values.
    main.message(15, Message().message(1, values.string(8, "s")).message(2, indices).varint(3, 100))
    whole = model(main, domains=[("ai.onnx.ml", 3)])
    body = node("Constant", [], ["k"], "k", [
        tensor_attribute("value", make.make("functions/com.example.f/attributes", "k/value", "DOUBLE", [5], "raw_data"))])
    whole.message(25, Message().string(1, "f").string(5, "k").message(7, body).string(10, "com.example"))
    trained = graph([make.make("training/0/algorithm/initializers", "step", "FLOAT", [17], "raw_data")])
    whole.message(20, Message().message(2, trained))
    return whole.bytes(1000, b"an unknown field")


def write_editable(folder, seed=1):
    """Writes m.onnx and m.data there; (path of the model, {path in the mount: Editable})."""
    make = Maker(seed)
    whole = whole_model(make)
    (folder / "m.data").write_bytes(make.data)
    path = folder / "m.onnx"
    path.write_bytes(whole.to_bytes())
    return path, {editable.path: editable for editable in make.tensors}


def bin_path(mnt, path):
    return mnt.path / (path + ".bin")


def contents(mnt, paths):
    return {path: bin_path(mnt, path).read_bytes() for path in paths}


def overwrite(path, offset, data):
    """Writes into a file as it is, and fails with what write or close says."""
    with opened(path, os.O_RDWR) as fd:
        assert os.pwrite(fd, data, offset) == len(data)


def replacement(path, data):
    """Writes a file anew, and fails with what write or close says."""
    with opened(path, os.O_WRONLY | os.O_TRUNC) as fd:
        for at in range(0, len(data), 1 << 17):
            piece = data[at:at + (1 << 17)]
            assert os.write(fd, piece) == len(piece)


def payloads(tensors):
    return {path: editable.payload for path, editable in tensors.items()}

