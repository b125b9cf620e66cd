// ONNX's element types (TensorProto.DataType) and what follows from each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace onnxfs {

// Which of TensorProto's typed fields holds a type's elements where there is no raw_data. The value is the field's
// number.
enum class TypedField : uint32_t {
  none = 0,
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  double_data = 10,
  uint64_data = 11,
};

std::string_view name_of(TypedField field);

struct DataType {
  int32_t number;
  std::string_view onnx_name;  // FLOAT
  std::string_view name;       // the canonical one: float32
  uint32_t bits;               // of an element; 0 for STRING
  TypedField typed_field;
  std::string_view numpy;  // what to give numpy.fromfile; "" for STRING. See `numpy` in the JSON sibling
};

constexpr int32_t undefined_type = 0;
constexpr int32_t float_type = 1;
constexpr int32_t int64_type = 7;
constexpr int32_t string_type = 8;
constexpr int32_t bool_type = 9;

// A payload of strings is, for each, its length as a little-endian number of four bytes, and its bytes.
constexpr uint64_t string_length_prefix = 4;
constexpr uint64_t longest_string = 0xffff'ffff;

// Null for UNDEFINED and for numbers that no version of ONNX known here defines.
const DataType* find_data_type(int32_t number);

std::span<const DataType> all_data_types();

// ceil(bits × elements / 8), the size of a payload; nothing when that does not fit in a file's size (63 bits).
std::optional<uint64_t> payload_size(const DataType& type, uint64_t elements);

// The product of the dimensions, 1 for none; nothing when one is negative or the product does not fit in 63 bits.
std::optional<uint64_t> element_count(std::span<const int64_t> dims);

// How many entries of its typed field hold so many elements: two a complex number, one a byte of packed 4-bit and
// 2-bit elements (as every reader takes it), else one an element.
uint64_t typed_entries(const DataType& type, uint64_t elements);

}  // namespace onnxfs
