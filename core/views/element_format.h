#pragma once

#include <cstddef>

#include "core/onnx/data_type.h"

namespace onnxfs {

// How the elements of a data type are written as text: a line each, padded in front with spaces to a width that the
// type fixes.
//
//  * Integers in decimal, without leading zeros; BOOL as True (any byte but 0) or False.
//  * FLOAT and DOUBLE as float_text.h says. The smaller floats in the same form, in the fewest digits that round to
//    them in their own type, so that 0.1 in FLOAT16 is 0.1; FLOAT8E8M0, which is all powers of two, in those that
//    FLOAT would take, since 2e+01 for 16 would help nobody.
//  * COMPLEX as Python reads it: (1.0-0.5j), (nan+infj).
//  * A type that is unknown as bytes, like UINT8.
//
// Strings have no such format. Lines of the types that have few values are looked up, in tables that are made when they
// are first needed; any number of threads may use one.
struct ElementFormat {
  size_t width;         // of a line, without its end
  size_t element_size;  // in bytes; elements of less than a byte are one to a byte (sub_byte.h)

  // Writes `count` lines of width + 1 characters.
  void (*write_lines)(const std::byte* elements, size_t count, char* out);
};

// `type` is null for an unknown one, and not STRING.
ElementFormat element_format(const DataType* type);

constexpr size_t widest_line = 64;  // with its end; no format has one that is wider

}  // namespace onnxfs
