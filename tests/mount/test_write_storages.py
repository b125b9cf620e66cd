"""Every storage that a tensor can have is edited alike: in place, by a replacement, and by a rename."""

import json
import os
import random

import pytest
from datatypes import string_payload
from editable import (bin_path, contents, other_payload, overwrite, payloads, replacement, write_editable)
from editing import kill_and_remount, store
from onnx_wire import FLOAT, INT64, STRING, Message, tensor


def test_in_place(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    generator = random.Random(3)
    wanted = payloads(tensors)
    files = {name: (tmp_path / name).read_bytes() for name in ("m.onnx", "m.data")}
    with mount(model) as mnt:
        for path, editable in tensors.items():
            if editable.is_strings:
                continue
            size = len(editable.payload)
            for way in (overwrite, store):
                begin = generator.randrange(size)
                data = generator.randbytes(generator.randint(1, min(size - begin, 5000)))
                way(bin_path(mnt, path), begin, data)
                wanted[path] = wanted[path][:begin] + data + wanted[path][begin + len(data):]
            assert bin_path(mnt, path).read_bytes() == wanted[path], path
        assert contents(mnt, tensors) == wanted
        kill_and_remount(mnt)
        assert contents(mnt, tensors) == wanted
    assert {name: (tmp_path / name).read_bytes() for name in files} == files


@pytest.mark.parametrize("way", ["truncate", "rename"])
def test_replaced(mount, tmp_path, way):
    model, tensors = write_editable(tmp_path)
    generator = random.Random(4)
    wanted = {}
    with mount(model) as mnt:
        for path, editable in tensors.items():
            wanted[path] = other_payload(editable, generator)
            if way == "truncate":
                replacement(bin_path(mnt, path), wanted[path])
            else:
                scratch = bin_path(mnt, path).with_name("scratch")
                scratch.write_bytes(wanted[path])
                os.replace(scratch, bin_path(mnt, path))
            assert bin_path(mnt, path).read_bytes() == wanted[path], path
        assert contents(mnt, tensors) == wanted
        for path in tensors:
            found = json.loads((mnt.path / (path + ".json")).read_text())
            assert (found["edited"], found["nbytes"], found["problem"]) == (True, len(wanted[path]), None), path
    with mount(model) as mnt:
        assert contents(mnt, tensors) == wanted


def test_shape_and_words(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    with mount(model) as mnt:
        for path, editable in tensors.items():
            if editable.storage == "attribute":
                continue  # a plain list has neither
            file = mnt.path / (path + ".json")
            value = {**json.loads(file.read_text()), "shape": [1, *editable.shape], "doc_string": f"of {path}"}
            file.write_text(json.dumps(value))
        kill_and_remount(mnt)
        for path, editable in tensors.items():
            found = json.loads((mnt.path / (path + ".json")).read_text())
            if editable.storage != "attribute":
                assert (found["shape"], found["doc_string"]) == ([1, *editable.shape], f"of {path}")
        assert contents(mnt, tensors) == payloads(tensors)


def sequence(*values):
    message = Message().string(1, "seq").varint(2, 1)
    for value in values:
        message.message(3, value)
    return message


def number_map(keys, *values):
    return Message().string(1, "m").varint(2, INT64).packed_varints(3, keys).message(5, sequence(*values))


A, B = (tensor(name, FLOAT, [3], raw=name.encode() * 12) for name in "ab")
VALUES = {
    "tensor": (tensor("t", FLOAT, [3], raw=b"t" * 12), {"t": b"new content!"}),
    "typed tensor": (tensor("t", INT64, [2]).packed_varints(7, [1, -1]), {"t": b"0123456789abcdef"}),
    "strings": (tensor("t", STRING, [2]).bytes(6, b"x").bytes(6, b"yy"), {"t": string_payload([b"longer", b""])}),
    "sequence": (sequence(A, B), {"1": b"new content!"}),
    "map": (number_map([5, -6], A, B), {"0": b"new content!", "keys": bytes(range(16))}),
}


@pytest.mark.parametrize("kind", VALUES)
def test_value_files(mount, tmp_path, kind):
    message, edits = VALUES[kind]
    path = tmp_path / "v.pb"
    path.write_bytes(message.to_bytes())
    original = path.read_bytes()
    with mount(path) as mnt:
        before = {str(file.relative_to(mnt.path)): file.read_bytes() for file in mnt.path.rglob("*.bin")}
        for name, content in edits.items():
            replacement(mnt.path / "values" / (name + ".bin"), content)
        kill_and_remount(mnt)
        after = {str(file.relative_to(mnt.path)): file.read_bytes() for file in mnt.path.rglob("*.bin")}
        assert after == {**before, **{f"values/{name}.bin": content for name, content in edits.items()}}
    assert path.read_bytes() == original
    assert path.with_name("v.pb.sidecar").is_dir()


def test_models_in_a_folder(mount, tmp_path):
    """Each has a sidecar of its own, beside it."""
    (tmp_path / "models" / "sub").mkdir(parents=True)
    for folder in ("models", "models/sub"):
        write_editable(tmp_path / folder)
    with mount(tmp_path / "models") as mnt:
        overwrite(mnt.path / "m.onnx" / "initializers" / "raw.bin", 3, b"one")
        overwrite(mnt.path / "sub" / "m.onnx" / "initializers" / "raw.bin", 3, b"two")
        assert "m.onnx.sidecar" not in os.listdir(mnt.path)
    with mount(tmp_path / "models" / "sub" / "m.onnx") as mnt:
        assert mnt.bytes("raw")[3:6] == b"two"
    with mount(tmp_path / "models") as mnt:
        assert (mnt.path / "m.onnx" / "initializers" / "raw.bin").read_bytes()[3:6] == b"one"
