// The floating-point types of at most 16 bits, which C++ does not have.
//
// From the most significant bit on, an element is a sign, an exponent e and a fraction f. Its magnitude is
//     (1 + f / 2^F) × 2^(e − bias)    or, for e = 0,    f / 2^F × 2^(1 − bias)
// where F is the number of bits of the fraction. What is no number depends on the type:
//     float16, bfloat16, float8_e5m2            the largest exponent: infinity with f = 0, else NaN
//     float8_e4m3fn                             the largest magnitude is NaN; no infinity
//     float8_e4m3fnuz, float8_e5m2fnuz          the sign bit alone is NaN; no negative zero, no infinity
//     float4_e2m1fn, float6_e2m3fn, float6_e3m2fn   all are numbers
// float8_e8m0fnu, a scale, is 2^(byte − 127), or NaN for the byte 255: no sign, and no zero.
#pragma once

#include <cstdint>

#include "core/onnx/data_type.h"

namespace onnxfs {

struct SmallFloat {
  enum class Special : uint8_t { none, largest_exponent, largest_magnitude, negative_zero };

  std::string_view onnx_name;
  unsigned exponent_bits;
  unsigned fraction_bits;
  int bias;
  Special special;
  bool has_sign = true;

  unsigned bits() const noexcept { return exponent_bits + fraction_bits + (has_sign ? 1 : 0); }

  // The number, infinity or NaN that the low bits of `code` are.
  double value(uint32_t code) const;

  // The number without a sign that `code` would be if all were numbers; also one past the largest.
  double magnitude(uint32_t code) const;
};

// Null for other types.
const SmallFloat* find_small_float(const DataType& type);

// The decimal of the fewest digits, and of those the nearest, that lies nearer to the number that `code` is than to any
// other of the type, however ties are broken; as a double, whose own shortest decimal it is. A scale is itself.
double shortest_decimal(const SmallFloat& type, uint32_t code);

}  // namespace onnxfs
