"""model.safetensors: a file by the strict rules, that holds every tensor."""

import pytest
import safetensors_reader
from datatypes import count
from editable import payloads, replacement, write_editable
from mounting import error_of
from onnx_wire import FLOAT, INT8, STRING, Message, graph, node, tensor, write_model
from viewed import SHAPES, write_viewed

# What a type is called there; the rest goes in as U8. FLOAT6 and FLOAT4 only where they fill whole bytes.
NAMES = {"BOOL": "BOOL", "UINT8": "U8", "INT8": "I8", "UINT16": "U16", "INT16": "I16", "UINT32": "U32", "INT32": "I32",
         "UINT64": "U64", "INT64": "I64", "FLOAT16": "F16", "BFLOAT16": "BF16", "FLOAT": "F32", "DOUBLE": "F64",
         "COMPLEX64": "C64", "FLOAT8E4M3FN": "F8_E4M3", "FLOAT8E5M2": "F8_E5M2", "FLOAT8E8M0": "F8_E8M0",
         "FLOAT6E2M3": "F6_E2M3", "FLOAT6E3M2": "F6_E3M2", "FLOAT4E2M1": "F4"}


def content_of(mnt):
    path = mnt.path / "model.safetensors"
    size = path.stat().st_size
    content = path.read_bytes()
    assert len(content) == size == path.stat().st_size
    return content


def read(mnt):
    return safetensors_reader.read(content_of(mnt))


def test_every_type(mount, tmp_path):
    model, tensors = write_viewed(tmp_path)
    with mount(model) as mnt:
        found, metadata = read(mnt)
    assert set(found) == set(tensors)
    for name, it in tensors.items():
        row, kind = it.row, name.rpartition("/")[2]
        dtype, shape, data = found[name]
        assert data == it.payload, name
        if row.onnx in NAMES and row.bits * count(SHAPES[kind]) % 8 == 0:
            assert (dtype, tuple(shape)) == (NAMES[row.onnx], it.shape), name
            assert f"dtype:{name}" not in metadata
        else:
            assert (dtype, shape) == ("U8", [len(data)]), name
            assert metadata[f"dtype:{name}"] == row.name
            assert metadata[f"shape:{name}"] == str(list(it.shape)).replace(" ", "")


def test_every_storage_and_place(mount, tmp_path):
    """Initializers of the main graph have their name as their key, all else its path."""
    model, tensors = write_editable(tmp_path)
    wanted = {path.removeprefix("initializers/"): payload for path, payload in payloads(tensors).items()}
    with mount(model) as mnt:
        found, metadata = read(mnt)
        assert {key: data for key, (_, _, data) in found.items()} == wanted
        assert metadata["dtype:strings"] == "string"
        replacement(mnt.file("raw"), bytes(6000))
        assert read(mnt)[0]["raw"] == ("F32", [50, 30], bytes(6000))


def test_names(mount, tmp_path):
    one = b"1234"
    names = ["w", "w", "", "__metadata__", "a/b", "initializers/w", b"\xff", "a \"quote\"\\\n", "\u00e9"]
    constant = node("Constant", [], ["c"], "const", [Message().string(1, "value").message(
        5, tensor("inner", FLOAT, [1], raw=b"5678")).varint(20, 4)])
    write_model(tmp_path / "m.onnx", graph([tensor(name, FLOAT, [1], raw=one) for name in names], [constant]))
    with mount(tmp_path / "m.onnx") as mnt:
        found, _ = read(mnt)
        paths = {str(path.relative_to(mnt.path))[:-4] for path in mnt.path.rglob("*.bin")}
    assert len(found) == len(names) + 1
    assert {"w", "a/b", "a \"quote\"\\\n", "\u00e9", "attributes/const/value"} <= set(found)
    assert all(key in names or key in paths for key in found)


def test_broken_ones_are_left_out(mount, tmp_path):
    write_model(tmp_path / "m.onnx", graph([
        tensor("short", FLOAT, [2], raw=b"1234"), tensor("good", INT8, [3], raw=b"abc"),
        tensor("lost", FLOAT, [1], external=[("location", "nowhere")]), tensor("unknown", 99, [5], raw=b"12345")]))
    with mount(tmp_path / "m.onnx") as mnt:
        found, metadata = read(mnt)
    assert {key: (dtype, data) for key, (dtype, _, data) in found.items()} == {
        "good": ("I8", b"abc"), "unknown": ("U8", b"12345")}
    assert metadata["dtype:unknown"] == "null"
    assert {"problem:initializers/short", "problem:initializers/lost"} <= set(metadata)


@pytest.mark.parametrize("tensors", [[], [tensor("empty", FLOAT, [0, 4])], [tensor("none", STRING, [0])]],
                         ids=["none", "empty", "no strings"])
def test_almost_nothing(mount, tmp_path, tensors):
    write_model(tmp_path / "m.onnx", graph(tensors))
    with mount(tmp_path / "m.onnx") as mnt:
        assert len(read(mnt)[0]) == len(tensors)


def test_it_is_read_only(mount, tmp_path):
    model, _ = write_editable(tmp_path)
    with mount(model) as mnt:
        path = mnt.path / "model.safetensors"
        assert error_of(path.write_bytes, b"x") is not None
        assert error_of(path.unlink) is not None
        assert path.stat().st_mode & 0o222 == 0


def test_the_package(mount, tmp_path):
    """The format's own library reads it."""
    package = pytest.importorskip("safetensors", reason="the package safetensors is not installed")
    model, tensors = write_viewed(tmp_path)
    with mount(model) as mnt, package.safe_open(mnt.path / "model.safetensors", "numpy") as file:
        assert set(file.keys()) == set(tensors)
        for name in ("FLOAT", "DOUBLE", "FLOAT16", "INT8", "INT64", "UINT16", "BOOL"):
            assert file.get_tensor(f"{name}/cube").tobytes() == tensors[f"{name}/cube"].payload
