"""ONNX Runtime and onnx's checker take what was committed, and compute with the edits."""

import struct

import numpy
import onnx
import onnxruntime_node
import pytest
from committed import commit
from editable import overwrite, replacement
from onnx_wire import FLOAT, INT64, graph, node, tensor, value_info, write_model

WEIGHT = numpy.arange(12, dtype="<f4").reshape(3, 4)
BIAS = numpy.array([1, -1, 0.5, 2], dtype="<f4")


@pytest.fixture(scope="session")
def runtime():
    reason = onnxruntime_node.why_not()
    if reason:
        pytest.skip(reason)
    return onnxruntime_node.run


@pytest.fixture
def model(tmp_path):
    """y = reshape(x · weight + bias): the weight is external, the bias in a typed field, the shape in a varint one."""
    (tmp_path / "m.data").write_bytes(b"pad." + WEIGHT.tobytes())
    path = tmp_path / "m.onnx"
    write_model(path, graph(
        [tensor("weight", FLOAT, [3, 4], external=[("location", "m.data"), ("offset", "4"), ("length", "48")]),
         tensor("bias", FLOAT, [4]).bytes(4, BIAS.tobytes()), tensor("shape", INT64, [2]).packed_varints(7, [2, 2])],
        [node("MatMul", ["x", "weight"], ["p"], "mul"), node("Add", ["p", "bias"], ["s"], "add"),
         node("Reshape", ["s", "shape"], ["y"], "reshape")],
        [value_info("x", FLOAT, [1, 3])], [value_info("y", FLOAT, ["a", "b"])]))
    return path


@pytest.mark.limit(200)
def test_it_runs(runtime, mount, model):
    x = numpy.array([[1, 2, 3]], dtype="<f4")

    def result(path):
        return runtime(path, x=([1, 3], x.ravel().tolist()))["y"]

    assert result(model) == (x @ WEIGHT + BIAS).ravel().tolist()
    with mount(model) as mnt:
        overwrite(mnt.file("weight"), 0, struct.pack("<f", 100))
        replacement(mnt.file("bias"), bytes(16))
        replacement(mnt.file("shape"), struct.pack("<2q", 4, 1))
    edited = WEIGHT.copy()
    edited[0, 0] = 100
    commit(model, "-o", model.with_name("out.onnx"))
    assert result(model.with_name("out.onnx")) == (x @ edited).ravel().tolist()
    assert result(model) == (x @ WEIGHT + BIAS).ravel().tolist()
    commit(model)
    assert result(model) == (x @ edited).ravel().tolist()


def test_the_checker_takes_it(mount, model):
    with mount(model) as mnt:
        replacement(mnt.file("bias"), bytes(16))
        replacement(mnt.file("weight"), WEIGHT[::-1].tobytes())
        replacement(mnt.file("shape"), struct.pack("<2q", 1, 4))
    commit(model)
    onnx.checker.check_model(str(model), full_check=True)
