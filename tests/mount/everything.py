"""All tensors of an ONNX file, found by walking python3-onnx's messages: the independent half of the comparisons.

Paths follow the mount's layout for ordinary names; a clash of names is for the tests that make one.
"""

import struct

import numpy
import onnx
from datatypes import TABLE, pack
from onnx import numpy_helper

LONG = 64  # entries from which a plain list counts as weights


def strings(values):
    return b"".join(struct.pack("<I", len(value)) + value for value in values)


def payload(tensor):
    """A TensorProto's payload, by onnx's own reader."""
    if tensor.data_type == onnx.TensorProto.BFLOAT16:  # that reader gives float32
        return tensor.raw_data or struct.pack(f"<{len(tensor.int32_data)}H", *tensor.int32_data)
    if tensor.data_type == onnx.TensorProto.STRING:
        return strings(tensor.string_data)
    if tensor.data_type > onnx.TensorProto.BFLOAT16:  # and it knows none of those
        bits = next(row.bits for row in TABLE if row.number == tensor.data_type)
        width = 8 if bits in (2, 4) else bits  # such an entry is a packed byte
        return tensor.raw_data or pack(width, [entry & (1 << width) - 1 for entry in tensor.int32_data])
    return numpy_helper.to_array(tensor).tobytes()


def path_of(name):
    return "/".join(part for part in name.split("/") if part) or "unnamed"


def label(node, position):
    return node.name or (node.output[0] if node.output and node.output[0] else f"node_{position}")


def attribute_tensors(node, attribute):
    """(path below the node's folder, payload) of the tensors in one attribute."""
    if attribute.ref_attr_name:
        return
    name = path_of(attribute.name)
    if attribute.HasField("t"):
        yield name, payload(attribute.t)
    for i, tensor in enumerate(attribute.tensors):
        yield f"{name}/{i}", payload(tensor)
    if attribute.HasField("sparse_tensor"):
        yield f"{name}/values", payload(attribute.sparse_tensor.values)
        yield f"{name}/indices", payload(attribute.sparse_tensor.indices)
    for i, sparse in enumerate(attribute.sparse_tensors):
        yield f"{name}/{i}/values", payload(sparse.values)
        yield f"{name}/{i}/indices", payload(sparse.indices)
    constant = node is not None and node.op_type == "Constant" and node.domain in ("", "ai.onnx")
    least = 1 if constant or (node is not None and node.domain == "ai.onnx.ml") else LONG
    if len(attribute.floats) >= least:
        yield name, numpy.array(attribute.floats, "<f4").tobytes()
    if len(attribute.ints) >= least:
        yield name, numpy.array(attribute.ints, "<i8").tobytes()
    if len(attribute.strings) >= least:
        yield name, strings(attribute.strings)
    if constant:
        if attribute.HasField("f"):
            yield name, struct.pack("<f", attribute.f)
        if attribute.HasField("i"):
            yield name, struct.pack("<q", attribute.i)
        if attribute.HasField("s"):
            yield name, strings([attribute.s])


def node_tensors(base, nodes):
    for position, node in enumerate(nodes):
        place = path_of(label(node, position))
        for attribute in node.attribute:
            for path, data in attribute_tensors(node, attribute):
                yield f"{base}attributes/{place}/{path}", data
            inner = f"{base}subgraphs/{place}/{path_of(attribute.name)}/"
            if attribute.HasField("g"):
                yield from graph_tensors(inner, attribute.g)
            for i, graph in enumerate(attribute.graphs):
                yield from graph_tensors(f"{inner}{i}/", graph)


def graph_tensors(base, graph):
    """(path, payload) of all tensors in a GraphProto, with what is nested."""
    for tensor in graph.initializer:
        yield f"{base}initializers/{path_of(tensor.name)}", payload(tensor)
    for sparse in graph.sparse_initializer:
        yield f"{base}sparse_initializers/{path_of(sparse.values.name)}/values", payload(sparse.values)
        yield f"{base}sparse_initializers/{path_of(sparse.values.name)}/indices", payload(sparse.indices)
    yield from node_tensors(base, graph.node)


def model_tensors(model):
    yield from graph_tensors("", model.graph)
    for function in model.functions:
        name = f"{function.domain}.{function.name}" if function.domain else function.name
        yield from node_tensors(f"functions/{path_of(name)}/", function.node)
    for i, training in enumerate(model.training_info):
        yield from graph_tensors(f"training/{i}/initialization/", training.initialization)
        yield from graph_tensors(f"training/{i}/algorithm/", training.algorithm)


def element_tensors(base, elements):
    """Of the values of a sequence, each a (message type, message)."""
    for i, (kind, message) in enumerate(elements):
        if kind == "tensor":
            yield f"{base}{i}", payload(message)
        elif kind == "sparse":
            yield f"{base}{i}/values", payload(message.values)
            yield f"{base}{i}/indices", payload(message.indices)
        elif kind == "sequence":
            yield from element_tensors(f"{base}{i}/", sequence_elements(message))
        elif kind == "map":
            yield from map_tensors(f"{base}{i}/", message)
        elif kind == "optional":
            yield from element_tensors(f"{base}{i}/", optional_elements(message))


def sequence_elements(sequence):
    return ([("tensor", value) for value in sequence.tensor_values]
            + [("sparse", value) for value in sequence.sparse_tensor_values]
            + [("sequence", value) for value in sequence.sequence_values]
            + [("map", value) for value in sequence.map_values]
            + [("optional", value) for value in sequence.optional_values])


def optional_elements(optional):
    fields = (("tensor", "tensor_value"), ("sparse", "sparse_tensor_value"), ("sequence", "sequence_value"),
              ("map", "map_value"), ("optional", "optional_value"))
    return [(kind, getattr(optional, field)) for kind, field in fields if optional.HasField(field)]


def map_tensors(base, message):
    if message.string_keys:
        yield f"{base}keys", strings(message.string_keys)
    else:
        width = {2: "<u1", 3: "<i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 12: "<u4", 13: "<u8"}[message.key_type]
        yield f"{base}keys", numpy.array(message.keys, "<i8").astype(width).tobytes()
    yield from element_tensors(base, sequence_elements(message.values))
