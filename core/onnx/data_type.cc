#include "core/onnx/data_type.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/bytes/range.h"

namespace onnxfs {

namespace {

using enum TypedField;

// By number, from 1. numpy has no type for the last column's unsigned stand-ins where the name says otherwise.
constexpr std::array<DataType, 28> table{{
    {1, "FLOAT", "float32", 32, float_data, "<f4"},
    {2, "UINT8", "uint8", 8, int32_data, "|u1"},
    {3, "INT8", "int8", 8, int32_data, "|i1"},
    {4, "UINT16", "uint16", 16, int32_data, "<u2"},
    {5, "INT16", "int16", 16, int32_data, "<i2"},
    {6, "INT32", "int32", 32, int32_data, "<i4"},
    {7, "INT64", "int64", 64, int64_data, "<i8"},
    {8, "STRING", "string", 0, string_data, ""},
    {9, "BOOL", "bool", 8, int32_data, "|b1"},
    {10, "FLOAT16", "float16", 16, int32_data, "<f2"},
    {11, "DOUBLE", "float64", 64, double_data, "<f8"},
    {12, "UINT32", "uint32", 32, uint64_data, "<u4"},
    {13, "UINT64", "uint64", 64, uint64_data, "<u8"},
    {14, "COMPLEX64", "complex64", 64, float_data, "<c8"},
    {15, "COMPLEX128", "complex128", 128, double_data, "<c16"},
    {16, "BFLOAT16", "bfloat16", 16, int32_data, "<u2"},
    {17, "FLOAT8E4M3FN", "float8_e4m3fn", 8, int32_data, "|u1"},
    {18, "FLOAT8E4M3FNUZ", "float8_e4m3fnuz", 8, int32_data, "|u1"},
    {19, "FLOAT8E5M2", "float8_e5m2", 8, int32_data, "|u1"},
    {20, "FLOAT8E5M2FNUZ", "float8_e5m2fnuz", 8, int32_data, "|u1"},
    {21, "UINT4", "uint4", 4, int32_data, "|u1"},
    {22, "INT4", "int4", 4, int32_data, "|u1"},
    {23, "FLOAT4E2M1", "float4_e2m1fn", 4, int32_data, "|u1"},
    {24, "FLOAT8E8M0", "float8_e8m0fnu", 8, int32_data, "|u1"},
    {25, "UINT2", "uint2", 2, int32_data, "|u1"},
    {26, "INT2", "int2", 2, int32_data, "|u1"},
    {27, "FLOAT6E2M3", "float6_e2m3fn", 6, int32_data, "|u1"},
    {28, "FLOAT6E3M2", "float6_e3m2fn", 6, int32_data, "|u1"},
}};

constexpr uint64_t largest = std::numeric_limits<int64_t>::max();

}  // namespace

std::string_view name_of(TypedField field) {
  switch (field) {
    case none: break;
    case float_data: return "float_data";
    case int32_data: return "int32_data";
    case string_data: return "string_data";
    case int64_data: return "int64_data";
    case double_data: return "double_data";
    case uint64_data: return "uint64_data";
  }
  return "none";
}

const DataType* find_data_type(int32_t number) {
  if (number < 1 || number > static_cast<int32_t>(table.size())) return nullptr;
  return &table[static_cast<size_t>(number - 1)];
}

std::span<const DataType> all_data_types() { return table; }

std::optional<uint64_t> payload_size(const DataType& type, uint64_t elements) {
  // Eight elements take exactly `bits` bytes, so nothing is multiplied by more than an element's size.
  const auto whole = checked_multiply(elements / 8, type.bits);
  if (!whole) return std::nullopt;
  const uint64_t rest = (elements % 8 * type.bits + 7) / 8;
  if (*whole > largest - rest) return std::nullopt;
  return *whole + rest;
}

std::optional<uint64_t> element_count(std::span<const int64_t> dims) {
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return std::nullopt;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  uint64_t product = 1;
  for (const int64_t dim : dims) {
    const auto next = checked_multiply(product, static_cast<uint64_t>(dim));
    if (!next || *next > largest) return std::nullopt;
    product = *next;
  }
  return product;
}

uint64_t typed_entries(const DataType& type, uint64_t elements) {
  switch (type.bits) {
    case 2: return elements / 4 + (elements % 4 != 0);
    case 4: return elements / 2 + (elements % 2 != 0);
    default: break;
  }
  const bool is_complex = type.onnx_name.starts_with("COMPLEX");
  return is_complex ? 2 * elements : elements;
}

}  // namespace onnxfs
