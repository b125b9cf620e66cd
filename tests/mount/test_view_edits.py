"""Edits of shape, documentation and strings change sizes in all views, and each is right at the next look."""

import json
import os
import threading

import numpy
import onnx
import pytest
import safetensors_reader
from datatypes import string_payload
from editable import replacement
from editing import kill_and_remount
from onnx_wire import FLOAT, INT4, STRING, graph, tensor, write_model
from views import contents_of_views, sizes_of_views, view


@pytest.fixture
def mnt(mount, tmp_path):
    strings = tensor("s", STRING, [2]).bytes(6, b"one").bytes(6, b"two")
    tensors = [tensor("w", FLOAT, [2, 3], raw=bytes(24)), tensor("packed", INT4, [5], raw=b"\x21\x43\x05"), strings,
               tensor("w2", FLOAT, [1], external=[("location", "m.data"), ("length", "4")])]
    (tmp_path / "m.data").write_bytes(b"1234")
    write_model(tmp_path / "m.onnx", graph(tensors))
    with mount(tmp_path / "m.onnx") as mounted:
        yield mounted


@pytest.fixture
def original(mnt, mount):
    """All views before there are edits, seen through another mount: the kernel knows nothing of them in this one."""
    with mount(mnt.model, "ro") as other:
        return look(other)


def annotate(mnt, name, **changes):
    path = mnt.file(name, ".json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def look(mnt):
    """All views, which must be whole and agree on what they have in common."""
    found = contents_of_views(mnt.path)
    assert None not in found.values()
    model = onnx.load(str(mnt.path / "live" / "m.onnx"))
    tensors, metadata = safetensors_reader.read(found["model.safetensors"])
    for message in model.graph.initializer:
        name, shape = message.name, list(message.dims)
        assert mnt.json(name)["shape"] == shape
        alone = onnx.load_tensor(str(view(mnt, "pb", f"initializers/{name}")))
        assert (list(alone.dims), alone.doc_string) == (shape, message.doc_string)
        assert tensors[name][2] == mnt.bytes(name)
        told = metadata.get(f"shape:{name}")
        assert (json.loads(told) if told else tensors[name][1]) == shape
        if name != "s":
            assert list(numpy.load(view(mnt, "npy", f"initializers/{name}")).shape) == shape
    strings = [json.loads(line).encode(errors="surrogateescape")
               for line in found["text/initializers/s.txt"].decode().splitlines()]
    alone = onnx.load_tensor(str(view(mnt, "pb", "initializers/s")))
    assert strings == list(alone.string_data)
    assert string_payload(strings) == mnt.bytes("s")
    return found


def changed(before, after):
    return {path for path in before if before[path] != after[path]}


@pytest.mark.parametrize("shape", [[3, 2], [6], [1, 1, 2, 1, 3, 1], [1] * 30 + [6]], ids=len)
def test_shape(mnt, original, shape):
    annotate(mnt, "w", shape=shape)
    after = look(mnt)
    assert mnt.json("w")["shape"] == shape
    assert changed(original, after) == {"npy/initializers/w.npy", "pb/initializers/w.pb", "live/m.onnx",
                                      "model.safetensors"}
    kill_and_remount(mnt)
    assert look(mnt) == after


@pytest.mark.parametrize("name", ["w", "packed", "s", "w2"])
def test_doc_string(mnt, original, name):
    for text in ("a word", "more \u00e9\n" * 500, ""):
        annotate(mnt, name, doc_string=text)
        after = look(mnt)
        assert onnx.load_tensor(str(view(mnt, "pb", f"initializers/{name}"))).doc_string == text
        assert changed(original, after) <= {f"pb/initializers/{name}.pb", "live/m.onnx"}
    kill_and_remount(mnt)
    assert look(mnt) == after


def test_strings(mnt, original):
    for values in ([b"a" * 10_000, b"\xff\n"], [b"", b""], ["\u91cd".encode() * 3, b"\\" * 999]):
        replacement(mnt.file("s"), string_payload(values))
        sizes = sizes_of_views(mnt.path)
        after = look(mnt)
        assert changed(original, after) == {"text/initializers/s.txt", "pb/initializers/s.pb", "live/m.onnx",
                                          "model.safetensors", "XXH128SUMS"}
        assert {path: len(content) for path, content in after.items()} == sizes
    kill_and_remount(mnt)
    assert look(mnt) == after


def test_all_at_once(mnt):
    annotate(mnt, "w", shape=[6], doc_string="about w")
    annotate(mnt, "packed", shape=[5, 1])
    numpy.save(view(mnt, "npy", "initializers/packed"), numpy.array([1, -1, 2, -2, 3], "i1"))
    replacement(mnt.file("s"), string_payload([b"new", b"strings"]))
    replacement(mnt.file("w2"), b"4321")
    after = look(mnt)
    assert after["live/m.data"] == b"4321"
    assert numpy.load(view(mnt, "npy", "initializers/packed")).ravel().tolist() == [1, -1, 2, -2, 3]
    kill_and_remount(mnt)
    assert look(mnt) == after


def test_who_has_a_view_open_sees_later_edits(mnt):
    """Of a size that stays, from the next read on that is not in the kernel's cache."""
    with open(view(mnt, "text", "initializers/w"), "rb", buffering=0) as file:
        assert b"1.5" not in file.read()
        replacement(mnt.file("w"), numpy.full(6, 1.5, "<f4").tobytes())
        file.seek(0)
        assert file.read().split() == [b"1.5"] * 6


@pytest.mark.parametrize("turn", range(20))
def test_right_after_the_first_edit(mnt, turn):
    """The kernel knew another size a moment ago: whoever opens a view next still reads all of it."""
    path = view(mnt, "pb", "initializers/w")
    path.read_bytes()
    annotate(mnt, "w", doc_string="x" * 50)
    assert onnx.load_tensor(str(path)).doc_string == "x" * 50


@pytest.mark.parametrize("turn", range(20))
def test_sizes_right_after_the_first_edit(mnt, turn):
    """Those that the kernel may believe until then, and others ask for all the time."""
    paths = [mnt.path / "live" / "m.onnx", mnt.path / "model.safetensors"]
    before = [path.stat().st_size for path in paths]
    done = threading.Event()

    def ask():
        while not done.is_set():
            for path in paths:
                os.stat(path)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    replacement(mnt.file("s"), string_payload([b"something longer", b"two"]))
    after = [path.stat().st_size for path in paths]
    done.set()
    for asker in askers:
        asker.join()
    assert after == [path.stat().st_size for path in paths] == [len(path.read_bytes()) for path in paths]
    assert after[0] == before[0] + len("something longer") - len("one")
