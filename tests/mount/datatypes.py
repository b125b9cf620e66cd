"""ONNX's data types as the tests know them: written from the format's rules, on purpose not from the program's table.

A tensor's elements are given as bit patterns, so one rule packs all types: a little-endian bit stream, lowest bit
first.
"""

import struct
from collections import namedtuple

from onnx_wire import FIXED32, FIXED64, VARINT, Message, tag, varint

DataType = namedtuple("DataType", "number onnx name bits field numpy")

TABLE = [DataType(*row) for row in (
    (1, "FLOAT", "float32", 32, "float_data", "<f4"),
    (2, "UINT8", "uint8", 8, "int32_data", "|u1"),
    (3, "INT8", "int8", 8, "int32_data", "|i1"),
    (4, "UINT16", "uint16", 16, "int32_data", "<u2"),
    (5, "INT16", "int16", 16, "int32_data", "<i2"),
    (6, "INT32", "int32", 32, "int32_data", "<i4"),
    (7, "INT64", "int64", 64, "int64_data", "<i8"),
    (8, "STRING", "string", None, "string_data", None),
    (9, "BOOL", "bool", 8, "int32_data", "|b1"),
    (10, "FLOAT16", "float16", 16, "int32_data", "<f2"),
    (11, "DOUBLE", "float64", 64, "double_data", "<f8"),
    (12, "UINT32", "uint32", 32, "uint64_data", "<u4"),
    (13, "UINT64", "uint64", 64, "uint64_data", "<u8"),
    (14, "COMPLEX64", "complex64", 64, "float_data", "<c8"),
    (15, "COMPLEX128", "complex128", 128, "double_data", "<c16"),
    (16, "BFLOAT16", "bfloat16", 16, "int32_data", "<u2"),
    (17, "FLOAT8E4M3FN", "float8_e4m3fn", 8, "int32_data", "|u1"),
    (18, "FLOAT8E4M3FNUZ", "float8_e4m3fnuz", 8, "int32_data", "|u1"),
    (19, "FLOAT8E5M2", "float8_e5m2", 8, "int32_data", "|u1"),
    (20, "FLOAT8E5M2FNUZ", "float8_e5m2fnuz", 8, "int32_data", "|u1"),
    (21, "UINT4", "uint4", 4, "int32_data", "|u1"),
    (22, "INT4", "int4", 4, "int32_data", "|u1"),
    (23, "FLOAT4E2M1", "float4_e2m1fn", 4, "int32_data", "|u1"),
    (24, "FLOAT8E8M0", "float8_e8m0fnu", 8, "int32_data", "|u1"),
    (25, "UINT2", "uint2", 2, "int32_data", "|u1"),
    (26, "INT2", "int2", 2, "int32_data", "|u1"),
    (27, "FLOAT6E2M3", "float6_e2m3fn", 6, "int32_data", "|u1"),
    (28, "FLOAT6E3M2", "float6_e3m2fn", 6, "int32_data", "|u1"),
)]
BY_NAME = {row.onnx: row for row in TABLE}
SIZED = [row for row in TABLE if row.bits]  # all but strings

FIELD_NUMBER = {"float_data": 4, "int32_data": 5, "string_data": 6, "int64_data": 7, "double_data": 10,
                "uint64_data": 11}
SIGNED = {"INT8", "INT16", "INT32", "INT64"}


def count(shape):
    product = 1
    for dim in shape:
        product *= dim
    return product


def pack(bits, patterns):
    """The payload: element i stands in bits [i * bits, (i + 1) * bits) of the stream; zeros fill the last byte."""
    out = bytearray()
    for first in range(0, len(patterns), 8):
        group = patterns[first:first + 8]
        stream = sum(pattern << bits * place for place, pattern in enumerate(group))
        out += stream.to_bytes((bits * len(group) + 7) // 8, "little")
    return bytes(out)


def random_patterns(row, elements, random):
    """Bit patterns that a well-formed tensor may hold."""
    return [random.getrandbits(1 if row.onnx == "BOOL" else row.bits) for _ in range(elements)]


def entries(row, patterns):
    """The typed field's entries, each in its wire encoding but without a tag."""
    payload = pack(row.bits, patterns)
    if row.field == "float_data":
        return [payload[at:at + 4] for at in range(0, len(payload), 4)]
    if row.field == "double_data":
        return [payload[at:at + 8] for at in range(0, len(payload), 8)]
    if row.bits in (2, 4):  # one entry a packed byte
        return [varint(byte) for byte in payload]
    if row.onnx in SIGNED:
        half = 1 << row.bits - 1
        return [varint((pattern ^ half) - half) for pattern in patterns]
    return [varint(pattern) for pattern in patterns]


def wire_type(row):
    return {"float_data": FIXED32, "double_data": FIXED64}.get(row.field, VARINT)


def packed(row, encoded):
    """One packed run of a typed field."""
    return Message().bytes(FIELD_NUMBER[row.field], b"".join(encoded))


def unpacked(row, encoded):
    """A tag before each entry."""
    message = Message()
    for entry in encoded:
        message.raw(tag(FIELD_NUMBER[row.field], wire_type(row)) + entry)
    return message


def string_payload(strings):
    """Each string as a 4-byte little-endian length and its bytes."""
    return b"".join(struct.pack("<I", len(text)) + text for text in strings)
