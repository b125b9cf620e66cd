"""Writes ONNX files field by field, as a stream: a model of many gigabytes costs no memory to make.

Nothing here is checked against the schema on purpose: tests write messages that no protobuf library would.
Needs Python's standard library only.

    graph = Message().string(2, "g").message(5, tensor("w", FLOAT, [2], raw=struct.pack("<2f", 1, 2)))
    write_model("m.onnx", graph)
"""


VARINT, FIXED64, LENGTH, GROUP, END_GROUP, FIXED32 = 0, 1, 2, 3, 4, 5

(UNDEFINED, FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64,
 COMPLEX64, COMPLEX128, BFLOAT16, FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, UINT4, INT4,
 FLOAT4E2M1, FLOAT8E8M0, UINT2, INT2, FLOAT6E2M3, FLOAT6E3M2) = range(29)


def varint(value):
    """A base-128 varint; negative numbers take ten bytes, as protobuf's int32 and int64 do."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(field, wire_type):
    return varint(field << 3 | wire_type)


class Payload:
    """`size` bytes that are made only when written: `chunks()` gives them piece by piece."""

    def __init__(self, size, chunks):
        self.size, self.chunks = size, chunks

    def write_to(self, file):
        written = 0
        for chunk in self.chunks():
            file.write(chunk)
            written += len(chunk)
        assert written == self.size, f"payload of {self.size} bytes wrote {written}"


class Hole(Payload):
    """`size` zero bytes that take no room on disk."""

    def __init__(self, size):
        super().__init__(size, None)

    def write_to(self, file):
        file.seek(self.size, 1)


class Message:
    """A protobuf message as a list of parts in the order of the calls; each call returns the message."""

    def __init__(self):
        self.parts, self.size = [], 0

    def raw(self, part):
        """Bytes as they are, or a Payload, or another message's parts."""
        self.parts.append(part)
        self.size += len(part) if isinstance(part, (bytes, bytearray)) else part.size
        return self

    def varint(self, field, value):
        return self.raw(tag(field, VARINT) + varint(value))

    def fixed32(self, field, data):
        return self.raw(tag(field, FIXED32) + data)

    def fixed64(self, field, data):
        return self.raw(tag(field, FIXED64) + data)

    def bytes(self, field, data):
        return self.raw(tag(field, LENGTH) + varint(len(data)) + data)

    def string(self, field, text):
        return self.bytes(field, text if isinstance(text, bytes) else text.encode())

    def message(self, field, part):
        """A nested Message, or a Payload, as a length-delimited field."""
        return self.raw(tag(field, LENGTH) + varint(part.size)).raw(part)

    def packed_varints(self, field, values):
        return self.bytes(field, b"".join(map(varint, values)))

    def write_to(self, file):
        for part in self.parts:
            file.write(part) if isinstance(part, (bytes, bytearray)) else part.write_to(file)

    def to_bytes(self):
        return b"".join(p if isinstance(p, (bytes, bytearray)) else p.to_bytes() for p in self.parts)


def tensor(name, data_type, dims, raw=None, external=None):
    """A TensorProto. `raw`: bytes or a Payload; `external`: a list of (key, value) pairs. Typed fields: add them to it."""
    message = Message()
    for dim in dims:
        message.varint(1, dim)
    message.varint(2, data_type).string(8, name)
    if raw is not None:
        message.bytes(9, raw) if isinstance(raw, (bytes, bytearray)) else message.message(9, raw)
    if external is not None:
        for key, value in external:
            message.message(13, Message().string(1, key).string(2, value))
        message.varint(14, 1)
    return message


def value_info(name, data_type, shape):
    """A ValueInfoProto of a tensor type; a dimension is a number or a symbol's name."""
    dims = Message()
    for dim in shape:
        dims.message(1, Message().varint(1, dim) if isinstance(dim, int) else Message().string(2, dim))
    tensor_type = Message().varint(1, data_type).message(2, dims)
    return Message().string(1, name).message(2, Message().message(1, tensor_type))


def attribute_int(name, value):
    return Message().string(1, name).varint(3, value).varint(20, 2)


def attribute_ints(name, values):
    message = Message().string(1, name)
    for value in values:
        message.varint(8, value)
    return message.varint(20, 7)


def node(op_type, inputs, outputs, name="", attributes=(), domain=""):
    """A NodeProto."""
    message = Message()
    for text in inputs:
        message.string(1, text)
    for text in outputs:
        message.string(2, text)
    if name:
        message.string(3, name)
    message.string(4, op_type)
    for attribute in attributes:
        message.message(5, attribute)
    return message.string(7, domain) if domain else message


def graph(initializers=(), nodes=(), inputs=(), outputs=(), name="main_graph"):
    """A GraphProto in the order in which protobuf writes it."""
    message = Message()
    for part in nodes:
        message.message(1, part)
    message.string(2, name)
    for field, parts in ((5, initializers), (11, inputs), (12, outputs)):
        for part in parts:
            message.message(field, part)
    return message


def model(graph_message, ir_version=8, opset=17, domains=(), producer="onnxfs", producer_version=""):
    """A ModelProto; `domains`: further (domain, version) pairs of opset_import."""
    message = Message().varint(1, ir_version).string(2, producer)
    if producer_version:
        message.string(3, producer_version)
    message.message(7, graph_message)
    message.message(8, Message().varint(2, opset))
    for domain, version in domains:
        message.message(8, Message().string(1, domain).varint(2, version))
    return message


def write_model(path, graph_message, **header):
    """Writes `model(graph_message, **header)` to `path`."""
    with open(path, "wb", buffering=1 << 20) as file:
        model(graph_message, **header).write_to(file)
        file.truncate()
