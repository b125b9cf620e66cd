#pragma once

#include <cstdint>

#include "core/analysis/scaled_sum.h"
#include "core/bytes/rope.h"
#include "core/bytes/workers.h"
#include "core/onnx/data_type.h"

namespace onnxfs {

// Which elements count as changed, as numpy.isclose(B, A, rtol, atol, equal_nan) has it: A, the first one, is the
// reference. A finite b is close to a finite a when |b − a| ≤ atol + rtol × |a|; infinities are close when they are
// equal, and NaNs when `equal_nan`. Beyond numpy, an element is always close to one of the same type and bits, so
// equal bytes are no change, a NaN in them included.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  bool equal_nan = false;

  bool any() const noexcept { return relative != 0 || absolute != 0; }
};

// How far apart the numbers of two tensors are. A complex number is two, its parts.
//
// Without a tolerance `changed` is exact, for integers of 64 bits too, and between types: no two different numbers are
// taken for equal. With one, |b - a| and what is allowed are each rounded to doubles, as numpy's are (|b - a| once or,
// of an integer of 64 bits and another type's number, twice): an element whose distance is within 1e-15 of the allowed
// one, relative to that, may count either way; 3 is within 0.3 x 10, though the double 0.3 is less than three tenths.
//
// The sums are within about 1e-13 of what exact arithmetic gives, relative to the sum of magnitudes, for numbers of any
// size: those whose squares a double cannot hold are counted in units of a power of two. (Of products, relative to |a|
// |b|.)
struct Difference {
  bool bytes_equal = false;  // of one type: then nothing else is computed
  uint64_t numbers = 0;
  uint64_t changed = 0;
  uint64_t new_nan = 0;       // NaN in B where A has none
  uint64_t new_infinite = 0;  // likewise

  // Of the pairs that are both finite.
  uint64_t finite = 0;
  double max_absolute = 0;  // |b - a|; infinite where it is no double
  ScaledSum absolute;
  ScaledSum squared;  // (b - a)²
  ScaledSum a_squared, b_squared, products;

  double mean_absolute() const noexcept;
  double relative_l2() const noexcept;  // |b - a| / |a|; 0 when both are, infinite when a alone is
  double cosine() const noexcept;       // a·b / (|a| |b|); NaN when one of them is 0
  double sqnr() const noexcept;         // 10 log10(|a|² / |b - a|²), in dB; infinite when nothing differs

  void add(const Difference& other);
};

// One side of a comparison.
struct Compared {
  Rope payload;
  const DataType* type;  // null for an unknown one, whose bytes are compared
};

// Whether elements of two types, null for an unknown one, can be compared: they are of one type, or both are numbers.
bool can_compare(const DataType* a, const DataType* b);

// Of two payloads of as many elements, whose types can be compared and which are not strings. Bytes that are equal are
// not looked at as numbers, but where others of the tensor differ and their squares are needed. Throws Error as reading
// does.
Difference difference_between(const Compared& a, const Compared& b, uint64_t elements, const Tolerance& tolerance,
                              Workers& workers);

// Of two payloads of strings: `numbers` is the count of strings, `changed` of those that differ in some byte. Throws
// Error(EIO) when one of them is not of `elements` strings.
Difference string_difference_between(const Rope& a, const Rope& b, uint64_t elements, Workers& workers);

}  // namespace onnxfs
