#include "core/onnx/entry_values.h"

#include <fmt/format.h>

namespace onnxfs {

namespace {

struct Bounds {
  int64_t least;
  int64_t most;
};

constexpr Bounds everything{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

// What the low bits of an entry are, as a number.
uint32_t bits_of_entry(const DataType& type) { return type.bits == 2 || type.bits == 4 ? 8 : type.bits; }

Bounds bounds_of(const DataType& type) {
  const uint32_t bits = bits_of_entry(type);
  if (bits == 0 || bits >= 64) return everything;
  if (type.number == bool_type) return {0, 1};
  const int64_t beyond = int64_t{1} << bits;
  const bool is_signed = type.onnx_name.starts_with("INT");
  if (is_signed && type.bits < 8) return {-beyond / 2, beyond - 1};
  return is_signed ? Bounds{-beyond / 2, beyond / 2 - 1} : Bounds{0, beyond - 1};
}

}  // namespace

bool can_be_odd(const DataType& type, TypedField field) {
  const bool fits_all = field == TypedField::int32_data && type.bits == 32;
  return !fits_all && bounds_of(type).least != everything.least;
}

std::string odd_entries(const DataType& type, TypedField field, std::string_view field_name, uint64_t elements,
                        const EntryValues& values) {
  if (values.least > values.most) return {};
  std::string text;
  const Bounds bounds = bounds_of(type);
  if (values.least < bounds.least || values.most > bounds.most) {
    const int64_t number = values.least < bounds.least ? values.least : values.most;
    text = fmt::format(
        "{} has an entry of {}, those of {} are {} to {}; {}", field_name,
        field == TypedField::uint64_data ? fmt::to_string(static_cast<uint64_t>(number)) : fmt::to_string(number),
        type.name, bounds.least, bounds.most,
        type.number == bool_type ? "it counts as 1" : fmt::format("its low {} bits count", bits_of_entry(type)));
  }
  const uint32_t used = type.bits == 6 ? 0 : used_bits_of_last_byte(type, elements);
  if (used != 0 && (static_cast<uint64_t>(values.last) & 0xff) >> used != 0) {
    if (!text.empty()) text += "; ";
    text += padding_is_not_zero;
  }
  return text;
}

uint32_t used_bits_of_last_byte(const DataType& type, uint64_t elements) {
  return type.bits >= 8 ? 0 : static_cast<uint32_t>(elements % 8 * type.bits % 8);
}

}  // namespace onnxfs
