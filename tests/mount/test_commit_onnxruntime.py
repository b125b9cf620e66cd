"""ONNX Runtime and onnx's checker take what was committed, and compute with the edits."""

import struct

import numpy
import onnx
import pytest
from committed import commit
from editable import overwrite, replacement
from network import BIAS, WEIGHT, write_network

@pytest.fixture
def model(tmp_path):
    return write_network(tmp_path)


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
