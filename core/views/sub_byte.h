// Elements of less than a byte: packed, as payloads hold them, and one to a byte, as numpy does.
//
// Packed, element i is the `bits` bits from bit (bits × i) of the payload on, where bit 0 is the least significant one
// of the first byte: a byte holds two elements of 4 bits or four of 2, three bytes hold four of 6. What is left of the
// last byte is zero. One to a byte, a number is a byte of its sign (int4, int2: two's complement, extended); all others
// are their bits.
#pragma once

#include "core/bytes/rope.h"
#include "core/onnx/data_type.h"

namespace onnxfs {

constexpr bool is_sub_byte(const DataType& type) noexcept { return type.bits != 0 && type.bits < 8; }
constexpr bool is_signed_sub_byte(const DataType& type) noexcept { return type.name.starts_with("int"); }

// Packed elements, one to a byte; made when they are read. `packed` holds them all.
SourcePtr unpacked(Rope packed, const DataType& type, uint64_t elements);

// The other direction; of each element, the bits that its type has.
SourcePtr packed(Rope unpacked, const DataType& type);

// Reads all elements, one to a byte, to prove that the type can hold each: Error(EINVAL) with the first that it cannot.
void require_range(const Rope& unpacked, const DataType& type);

}  // namespace onnxfs
