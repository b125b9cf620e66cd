"""Models that others wrote, held against python3-onnx: every initializer has the bytes that numpy_helper gives."""

import json
import os
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest
from naming import stems_of
from npm_models import background_removal, npm_package, unpack
from testdata import models_of_libonnx_testdata

onnx = pytest.importorskip("onnx", reason="python3-onnx is not installed")
import everything  # noqa: E402
from onnx import numpy_helper  # noqa: E402


def reference(tensor, folder):
    """The payload of a TensorProto, from onnx's own reader."""
    if tensor.data_type == onnx.TensorProto.BFLOAT16:  # that reader gives float32
        return tensor.raw_data or struct.pack(f"<{len(tensor.int32_data)}H", *tensor.int32_data)
    if tensor.data_type == onnx.TensorProto.STRING:
        return b"".join(struct.pack("<I", len(text)) + text for text in tensor.string_data)
    return numpy_helper.to_array(tensor, str(folder)).tobytes()


def nodes(graph):
    """How many there are, with those of nested graphs."""
    return len(graph.node) + sum(nodes(inner) for node in graph.node for attribute in node.attribute
                                 for inner in [attribute.g, *attribute.graphs])


def compare(mount, path):
    """Mounts one model and compares all its initializers; how many there are."""
    proto = onnx.load(str(path), load_external_data=False)
    tensors = proto.graph.initializer
    stems = [stem.decode("utf-8", "surrogateescape") for stem in stems_of([tensor.name.encode() for tensor in tensors])]
    with mount(path) as mnt:
        for tensor, stem in zip(tensors, stems):
            assert mnt.bytes(stem) == reference(tensor, path.parent), f"{path}: {tensor.name}"
            found = mnt.json(stem)
            assert (found["name"], found["shape"], found["onnx_type"]) == (
                tensor.name, list(tensor.dims), onnx.TensorProto.DataType.Name(tensor.data_type))
        listed = sum(len(names) for _, _, names in os.walk(mnt.path / "initializers"))
        assert listed == 2 * len(tensors), path
        # And what nodes and nested graphs hold.
        found = {str(file.relative_to(mnt.path))[:-4]: file.read_bytes() for file in mnt.path.rglob("*.bin")}
        assert found == dict(everything.model_tensors(proto)), path
        assert len(mnt.text("graph.txt").splitlines()) == nodes(proto.graph), path
        assert json.loads(mnt.text("model.json"))["ir_version"] == proto.ir_version
        assert mnt.problems() == [], path
    return len(tensors)


@pytest.mark.limit(120)
def test_models_of_libonnx_testdata(mount):
    models = models_of_libonnx_testdata()
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda path: compare(mount, path), models))
    assert len(counts) == len(models) and sum(counts) > 50


@pytest.mark.limit(120)
@pytest.mark.parametrize("package", ["@ricky0123/vad-web@0.0.31", "jp.keijiro.mlsd@1.0.0"])
def test_models_of_npm_packages(mount, tmp_path, package):
    """Silero's voice detector, and line detectors with the names that tf2onnx gives."""
    models = unpack(npm_package(package, 60), lambda name: name.endswith(".onnx"), tmp_path)
    counts = [compare(mount, path) for path in models]
    assert len(counts) > 1 and max(counts) > 50


@pytest.mark.limit(200)
def test_background_removal(mount, tmp_path):
    """A model of 44 MB with weights in typed fields."""
    assert compare(mount, background_removal(tmp_path)) == 634
