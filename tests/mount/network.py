"""A model that ONNX Runtime can run, with a tensor in each kind of storage."""

import numpy
from onnx_wire import FLOAT, INT64, graph, node, tensor, value_info, write_model

WEIGHT = numpy.arange(12, dtype="<f4").reshape(3, 4)
BIAS = numpy.array([1, -1, 0.5, 2], dtype="<f4")


def write_network(folder, data="m.data"):
    """y = reshape(x · weight + bias): the weight is external, the bias in a typed field, the shape in a varint one;
    the path of the model."""
    (folder / data).parent.mkdir(parents=True, exist_ok=True)
    (folder / data).write_bytes(b"pad." + WEIGHT.tobytes())
    path = folder / "m.onnx"
    write_model(path, graph(
        [tensor("weight", FLOAT, [3, 4], external=[("location", data), ("offset", "4"), ("length", "48")]),
         tensor("bias", FLOAT, [4]).bytes(4, BIAS.tobytes()), tensor("shape", INT64, [2]).packed_varints(7, [2, 2])],
        [node("MatMul", ["x", "weight"], ["p"], "mul"), node("Add", ["p", "bias"], ["s"], "add"),
         node("Reshape", ["s", "shape"], ["y"], "reshape")],
        [value_info("x", FLOAT, [1, 3])], [value_info("y", FLOAT, ["a", "b"])]))
    return path
