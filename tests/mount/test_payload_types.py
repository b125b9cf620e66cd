"""Every data type in every place where a model may keep it: the file has the bytes, and the JSON says what they are."""

import os
import random

import numpy
import pytest
from datatypes import SIZED, count, entries, pack, packed, random_patterns, unpacked
from onnx_wire import Message, graph, tensor, write_model

# The largest shape has an odd element count, so every sub-byte type ends inside a byte.
SHAPES = {"vector": (13,), "matrix": (3, 5), "pair": (1, 2, 1), "scalar": (), "empty": (0, 3), "emptier": (4, 0)}


def raw_data(row, patterns):
    return Message().bytes(9, pack(row.bits, patterns))


def packed_once(row, patterns):
    return packed(row, entries(row, patterns))


def unpacked_entries(row, patterns):
    return unpacked(row, entries(row, patterns))


def packed_runs(row, patterns):
    """Three runs, one of them empty."""
    encoded = entries(row, patterns)
    cut = len(encoded) // 3
    return packed(row, encoded[:cut]).raw(packed(row, [])).raw(packed(row, encoded[cut:]))


def mixed_runs(row, patterns):
    """Packed and unpacked entries take turns."""
    encoded = entries(row, patterns)
    one, two = len(encoded) // 4, len(encoded) * 3 // 4
    return (unpacked(row, encoded[:one]).raw(packed(row, encoded[one:two]))
            .raw(unpacked(row, encoded[two:-1] if two < len(encoded) else [])).raw(packed(row, encoded[two:][-1:])))


STORAGES = [raw_data, packed_once, unpacked_entries, packed_runs, mixed_runs, "external"]


def storage_name(storage):
    return storage if isinstance(storage, str) else storage.__name__


class Zoo:
    """One model with all combinations; `payload` by tensor name."""

    def __init__(self, folder):
        self.model = folder / "zoo.onnx"
        self.payload = {}
        self.data = bytearray()  # the external file, at offsets aligned to nothing
        generator = random.Random(20)
        tensors = [self.make(row, storage, kind, shape, generator)
                   for row in SIZED for storage in STORAGES for kind, shape in SHAPES.items()]
        (folder / "zoo.data").write_bytes(self.data)
        write_model(self.model, graph(tensors))

    def make(self, row, storage, kind, shape, generator):
        name = f"{row.onnx}/{storage_name(storage)}/{kind}"
        patterns = random_patterns(row, count(shape), generator)
        self.payload[name] = pack(row.bits, patterns)
        message = tensor(name, row.number, shape)
        if storage == "external":
            place = [("location", "zoo.data"), ("offset", str(len(self.data))),
                     ("length", str(len(self.payload[name])))]
            message = tensor(name, row.number, shape, external=place)
            self.data += self.payload[name]
        else:
            message.raw(storage(row, patterns))
        return message.string(12, f"the {kind} <{row.name}>")


@pytest.fixture(scope="module")
def zoo(mount, tmp_path_factory):
    made = Zoo(tmp_path_factory.mktemp("zoo"))
    with mount(made.model) as made.mnt:
        yield made


def check_place(zoo, found, row, storage, payload):
    """`file`, `offset` and `length`: given where the bytes stand in one piece, null where they do not."""
    place = [found[key] for key in ("file", "offset", "length")]
    if place != [None] * 3:
        content = (zoo.model.parent / found["file"]).read_bytes()
        assert content[found["offset"]:found["offset"] + found["length"]] == payload
        assert found["length"] == len(payload)
    if storage == "external" and payload:
        assert found["file"] == "zoo.data"
    fixed = row.field in ("float_data", "double_data")
    if payload and (storage in (raw_data, "external") or storage is packed_once and fixed):
        assert None not in place
    if len(payload) > 16 and not (fixed and storage is packed_once) and storage not in (raw_data, "external"):
        assert place == [None] * 3


@pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_payload_and_json(zoo, row, storage):
    for kind, shape in SHAPES.items():
        name = f"{row.onnx}/{storage_name(storage)}/{kind}"
        payload = zoo.payload[name]
        assert zoo.mnt.bytes(name) == payload, name
        assert zoo.mnt.file(name).stat().st_size == (row.bits * count(shape) + 7) // 8, name
        found = zoo.mnt.json(name)
        wanted = {"name": name, "kind": "initializer", "scope": "graph", "dtype": row.name, "onnx_type": row.onnx,
                  "bits": row.bits, "shape": list(shape), "elements": count(shape), "nbytes": len(payload),
                  "numpy": row.numpy, "doc_string": f"the {kind} <{row.name}>", "edited": False, "problem": None}
        assert {key: found.get(key, "absent") for key in wanted} == wanted
        check_place(zoo, found, row, storage, payload)
        typed = {row.field} if payload else {row.field, "none"}
        assert found["storage"] in {raw_data: {"raw_data"}, "external": {"external"}}.get(storage, typed), name


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_numpy_reads_it(zoo, row):
    """`numpy.fromfile` and `numpy.memmap` with the JSON's own dtype give back the bytes."""
    for storage in STORAGES:
        name = f"{row.onnx}/{storage_name(storage)}/matrix"
        dtype = numpy.dtype(zoo.mnt.json(name)["numpy"])
        array = numpy.fromfile(zoo.mnt.file(name), dtype)
        mapped = numpy.memmap(zoo.mnt.file(name), dtype, mode="r")
        assert array.tobytes() == mapped.tobytes() == zoo.payload[name]
        if row.bits >= 8:
            assert array.reshape(3, 5).shape == (3, 5)


def test_problems_absent_in_a_sound_model(zoo):
    assert not os.path.lexists(zoo.mnt.path / "problems.txt"), zoo.mnt.problems()
