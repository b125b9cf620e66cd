"""Elements of every type as float64, by numpy and the formats' formulas: what statistics and differences are held to."""

from functools import lru_cache

import numpy
from datatypes import BY_NAME
from viewed import SMALL_FLOATS, number


@lru_cache(None)
def code_table(onnx_name):
    """Of a float that numpy lacks, or has: the number of each code."""
    row = BY_NAME[onnx_name]
    return numpy.array([numpy.nan if number(row, code) is None else number(row, code) for code in range(1 << row.bits)])


def codes_of(row, payload, elements):
    """The bits of each element, as unsigned integers."""
    if row.bits >= 8:
        return numpy.frombuffer(payload, f"<u{row.bits // 8}", elements)
    bits = numpy.unpackbits(numpy.frombuffer(payload, "u1"), bitorder="little")[:elements * row.bits]
    return bits.reshape(-1, row.bits) @ (1 << numpy.arange(row.bits))


def exact_integers(row, payload, elements):
    """As numpy's own integers; None for other types."""
    if not row.name.startswith(("int", "uint")):
        return None
    if row.bits >= 8:
        return numpy.frombuffer(payload, row.numpy, elements)
    codes = codes_of(row, payload, elements).astype("i8")
    half = 1 << row.bits - 1
    return (codes ^ half) - half if row.name.startswith("int") else codes


def values_of(row, payload, elements):
    """As float64; of complex numbers both parts."""
    if row.onnx in SMALL_FLOATS or row.onnx == "FLOAT8E8M0":
        return code_table(row.onnx)[codes_of(row, payload, elements)]
    if row.onnx == "BOOL":
        return (numpy.frombuffer(payload, "u1") != 0).astype("f8")
    integers = exact_integers(row, payload, elements)
    if integers is not None:
        return integers.astype("f8")
    with numpy.errstate(invalid="ignore"):  # signalling NaNs
        return numpy.frombuffer(payload, "<f4" if row.onnx in ("FLOAT", "COMPLEX64") else "<f8").astype("f8")


def smallest_normal(row):
    if row.onnx in SMALL_FLOATS:
        return 2.0 ** (1 - SMALL_FLOATS[row.onnx][2])
    return {"FLOAT": 2.0 ** -126, "COMPLEX64": 2.0 ** -126, "DOUBLE": 2.0 ** -1022, "COMPLEX128": 2.0 ** -1022}.get(row.onnx, 0)


def payload_of(row, elements, generator):
    """Random bits, but for doubles: their squares are to be doubles too. Those get special ones among them."""
    if row.onnx in ("DOUBLE", "COMPLEX128"):
        values = generator.normal(3, 2, elements * row.bits // 64)
        special = [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 5e-324, -1e-310, 1e100]
        values[:len(special)] = special[:len(values)]
        return values.astype("<f8").tobytes()
    payload = bytearray(generator.bytes((elements * row.bits + 7) // 8))
    if elements * row.bits % 8:
        payload[-1] &= (1 << elements * row.bits % 8) - 1
    return bytes(payload)
