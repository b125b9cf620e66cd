// What is odd in the numbers that stand in a varint field, though the payload's bytes are not in doubt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/onnx/data_type.h"

namespace onnxfs {

// The numbers of a varint field, as far as it takes to say what is odd about them. A plain value.
struct EntryValues {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();
  int64_t last = 0;

  void add(int64_t number) noexcept {
    least = std::min(least, number);
    most = std::max(most, number);
    last = number;
  }
};

// Whether the field can hold a number that is no entry of this type, or has bits that no element uses.
bool can_be_odd(const DataType& type, TypedField field);

// The number that a parser takes a varint of the field for: int32_data has 32 bits, whatever stands above.
inline int64_t entry_number(TypedField field, uint64_t varint) noexcept {
  return field == TypedField::int32_data ? static_cast<int32_t>(varint) : static_cast<int64_t>(varint);
}

// One sentence, "" when nothing is odd: an entry out of the type's range, of which the low bits count; or bits that are
// not zero and belong to no element in the last entry of a 4-bit or 2-bit type. `values` are of all entries that
// `elements` elements take, `field_name` is for the message.
//
// 4-bit and 2-bit entries are bytes. Of INT4 and INT2 those of -128 to -1 are taken too: writers exist that pack them
// into signed bytes.
std::string odd_entries(const DataType& type, TypedField field, std::string_view field_name, uint64_t elements,
                        const EntryValues& values);

// Which bits of the last byte of a packed payload are used, counted from the lowest: 0 for all of them.
uint32_t used_bits_of_last_byte(const DataType& type, uint64_t elements);

inline constexpr std::string_view padding_is_not_zero = "the unused bits of its last byte are not zero";

}  // namespace onnxfs
