"""What the views of a tensor must show, told from its bit patterns: the independent half of the tests of views."""

import math
import random
import struct
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy
from datatypes import BY_NAME, SIZED, count, pack, random_patterns
from onnx_wire import graph, tensor, write_model

SHAPES = {"cube": (3, 5, 9), "scalar": (), "empty": (0, 3)}  # of an odd number, so a sub-byte type ends inside a byte

# name: bits of exponent and fraction, bias; all types of at most 16 bits that have a sign.
SMALL_FLOATS = {"FLOAT16": (5, 10, 15), "BFLOAT16": (8, 7, 127), "FLOAT8E4M3FN": (4, 3, 7), "FLOAT8E4M3FNUZ": (4, 3, 8),
                "FLOAT8E5M2": (5, 2, 15), "FLOAT8E5M2FNUZ": (5, 2, 16), "FLOAT4E2M1": (2, 1, 1),
                "FLOAT6E2M3": (2, 3, 1), "FLOAT6E3M2": (3, 2, 3)}
WITH_INFINITY = {"FLOAT16", "BFLOAT16", "FLOAT8E5M2"}


@dataclass(frozen=True)
class Viewed:
    row: tuple  # of datatypes.TABLE
    shape: tuple
    patterns: tuple

    @property
    def payload(self):
        return pack(self.row.bits, self.patterns)

    @property
    def array(self):
        return array_of(self.row, self.patterns).reshape(self.shape)


def array_of(row, patterns):
    """As a .npy holds it: a type that numpy lacks as unsigned integers, elements of less than a byte one to a byte."""
    if row.bits >= 8:
        return numpy.frombuffer(pack(row.bits, patterns), row.numpy)
    half = 1 << row.bits - 1
    if row.name.startswith("int"):
        return numpy.array([(pattern ^ half) - half for pattern in patterns], "i1")
    return numpy.array(patterns, "u1")


def patterns_of(row, payload, elements):
    """The other direction of `pack`."""
    stream = int.from_bytes(payload, "little")
    mask = (1 << row.bits) - 1
    return tuple(stream >> row.bits * i & mask for i in range(elements))


def array_of_payload(row, payload, shape):
    """Likewise."""
    if row.bits >= 8:
        return numpy.frombuffer(payload, row.numpy).reshape(shape)
    return array_of(row, patterns_of(row, payload, count(shape))).reshape(shape)


def with_special_ones(row, elements, generator):
    """Random patterns, with zeros, ends, infinities and NaNs among them."""
    patterns = random_patterns(row, elements, generator)
    if row.onnx == "BOOL":
        return tuple(patterns)
    width = row.bits
    special = [0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1, (1 << width - 1) + 1]
    if row.onnx in ("FLOAT", "DOUBLE"):
        form = {"FLOAT": "<f", "DOUBLE": "<d"}[row.onnx]
        special += [int.from_bytes(struct.pack(form, value), "little")
                    for value in (1.0, -1.0, 0.1, 1e16, 16777216.0, math.inf, -math.inf, math.nan, 5e-324)]
    return tuple((special + patterns)[:elements]) if elements > len(special) else tuple(patterns)


def write_viewed(folder):
    """A model with each type in each shape; (its path, {name: Viewed})."""
    generator = random.Random(5)
    tensors = {f"{row.onnx}/{kind}": Viewed(row, shape, with_special_ones(row, count(shape), generator))
               for row in SIZED for kind, shape in SHAPES.items()}
    path = folder / "viewed.onnx"
    write_model(path, graph([tensor(name, it.row.number, it.shape, raw=it.payload) for name, it in tensors.items()]))
    return path, tensors


def number(row, pattern):
    """What an element of a type that C has not, or has, is; None where that is NaN."""
    if row.onnx == "FLOAT8E8M0":
        return None if pattern == 255 else 2.0 ** (pattern - 127)
    exponent_bits, fraction_bits, bias = SMALL_FLOATS[row.onnx]
    sign = -1 if pattern >> row.bits - 1 else 1
    magnitude = pattern & (1 << row.bits - 1) - 1
    exponent, fraction = magnitude >> fraction_bits, magnitude & (1 << fraction_bits) - 1
    if row.onnx in WITH_INFINITY and exponent == (1 << exponent_bits) - 1:
        return None if fraction else sign * math.inf
    if row.onnx == "FLOAT8E4M3FN" and magnitude == 0x7F or row.onnx.endswith("FNUZ") and pattern == 0x80:
        return None
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - fraction_bits)
    return sign * (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)


@lru_cache
def numbers(name):
    """All finite numbers of a small type without a sign, in order, with their patterns."""
    row = BY_NAME[name]
    every = range(1 << row.bits - (name != "FLOAT8E8M0"))
    found = sorted((value, pattern) for pattern in every
                   if (value := number(row, pattern)) is not None and value != math.inf)
    return [value for value, _ in found], [pattern for _, pattern in found]


def nearest(name, value):
    """The pattern of the number of a type that is nearest to a finite value."""
    values, patterns = numbers(name)
    at = bisect_left(values, abs(value))
    candidates = [i for i in (at - 1, at) if 0 <= i < len(values)]
    best = min(candidates, key=lambda i: abs(values[i] - abs(value)))
    sign = 1 << BY_NAME[name].bits - 1 if math.copysign(1, value) < 0 else 0
    return patterns[best] | sign


def read_back(row, line):
    """The pattern that a line of text is for, "nan" for any NaN."""
    if row.onnx == "BOOL":
        return {"True": 1, "False": 0}[line]
    if row.onnx.startswith(("INT", "UINT")):
        return int(line) & (1 << row.bits) - 1
    if row.onnx.startswith("COMPLEX"):
        part = numpy.float32 if row.onnx == "COMPLEX64" else float
        return complex(part(complex(line).real), part(complex(line).imag))
    value = float(line)
    if math.isnan(value):
        return "nan"
    if row.onnx in ("FLOAT", "DOUBLE"):
        return int.from_bytes(numpy.array(line, row.numpy).tobytes(), "little")
    if math.isinf(value):
        exponent_bits, fraction_bits, _ = SMALL_FLOATS[row.onnx]
        return ((1 << exponent_bits) - 1) << fraction_bits | (1 << row.bits - 1 if value < 0 else 0)
    return nearest(row.onnx, value)


def wanted(row, pattern):
    """What `read_back` must give of a line for an element."""
    if row.onnx.startswith("COMPLEX"):
        return complex(numpy.frombuffer(pattern.to_bytes(row.bits // 8, "little"), row.numpy)[0])
    if row.onnx in ("FLOAT", "DOUBLE"):
        value = numpy.frombuffer(pattern.to_bytes(row.bits // 8, "little"), row.numpy)[0]
        return "nan" if numpy.isnan(value) else pattern
    if row.onnx in SMALL_FLOATS or row.onnx == "FLOAT8E8M0":
        return "nan" if number(row, pattern) is None else pattern
    return pattern
