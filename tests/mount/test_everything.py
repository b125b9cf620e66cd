"""Every file of libonnx-testdata through one mount of its folder: each tensor is there once, with the bytes that
python3-onnx gives, and nothing else is."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mounting import run

onnx = pytest.importorskip("onnx", reason="python3-onnx is not installed")
import everything  # noqa: E402


def files():
    try:
        listed = run("dpkg", "-L", "libonnx-testdata").stdout.splitlines()
    except FileNotFoundError:
        pytest.skip("no dpkg, so no libonnx-testdata")
    found = [Path(line) for line in listed if line.endswith((".onnx", ".pb"))]
    if not found:
        pytest.skip("the package libonnx-testdata is not installed")
    return found


def message_of(path):
    """What a .pb of a backend test is, as the model it belongs to says: an independent word on what its bytes are."""
    model = onnx.load(str(path.parent.parent / "model.onnx"), load_external_data=False)
    word, number = path.stem.split("_")
    value = (model.graph.input if word == "input" else model.graph.output)[int(number)]
    kind = value.type.WhichOneof("value")
    return {"tensor_type": onnx.TensorProto, "sequence_type": onnx.SequenceProto,
            "optional_type": onnx.OptionalProto, "map_type": onnx.MapProto}[kind]


def expected(path):
    """(message name, {path without suffix: payload})."""
    if path.suffix == ".onnx":
        tensors = list(everything.model_tensors(onnx.load(str(path), load_external_data=False)))
        name = None
    else:
        kind = message_of(path)
        message = kind.FromString(path.read_bytes())
        name = kind.__name__
        tensors = {"TensorProto": lambda: [(everything.path_of(message.name), everything.payload(message))],
                   "SequenceProto": lambda: everything.element_tensors("", everything.sequence_elements(message)),
                   "OptionalProto": lambda: everything.element_tensors("", everything.optional_elements(message)),
                   "MapProto": lambda: everything.map_tensors("", message)}[name]()
        tensors = [(f"values/{place}", data) for place, data in tensors]
    by_path = {}
    for place, data in tensors:
        number = 2
        wanted = place
        while place in by_path:
            place, number = f"{wanted}@{number}", number + 1
        by_path[place] = data
    return name, by_path


def compare(mounted, path):
    name, tensors = expected(path)
    found = {}
    for folder, _, names in os.walk(mounted):
        for file in names:
            if file.endswith(".bin"):
                whole = os.path.join(folder, file)
                with open(whole, "rb") as stream:
                    found[os.path.relpath(whole, mounted)[:-4]] = stream.read()
    assert found == tensors, path
    about = json.loads((mounted / "model.json").read_text())
    assert about.get("message") == name, path
    return len(found)


@pytest.mark.limit(300)
def test_all_of_libonnx_testdata(mount):
    listed = files()
    root = Path(os.path.commonpath(listed))
    with mount(root) as mnt, ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda path: compare(mnt.path / path.relative_to(root), path), listed))
        shown = sum(name.endswith((".onnx", ".pb")) for _, names, _ in os.walk(mnt.path) for name in names)
    assert shown == len(listed) == len(counts)
    assert sum(counts) > 3000
