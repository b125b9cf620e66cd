#include "core/onnx/data_type.h"

#include <gtest/gtest.h>

#include <vector>

namespace onnxfs {
namespace {

struct Row {
  int32_t number;
  const char* onnx_name;
  const char* name;
  uint32_t bits;
  uint32_t typed_field;
  const char* numpy;
};

// Written down from ONNX's documents a second time.
constexpr Row rows[] = {
    {1, "FLOAT", "float32", 32, 4, "<f4"},
    {2, "UINT8", "uint8", 8, 5, "|u1"},
    {3, "INT8", "int8", 8, 5, "|i1"},
    {4, "UINT16", "uint16", 16, 5, "<u2"},
    {5, "INT16", "int16", 16, 5, "<i2"},
    {6, "INT32", "int32", 32, 5, "<i4"},
    {7, "INT64", "int64", 64, 7, "<i8"},
    {8, "STRING", "string", 0, 6, ""},
    {9, "BOOL", "bool", 8, 5, "|b1"},
    {10, "FLOAT16", "float16", 16, 5, "<f2"},
    {11, "DOUBLE", "float64", 64, 10, "<f8"},
    {12, "UINT32", "uint32", 32, 11, "<u4"},
    {13, "UINT64", "uint64", 64, 11, "<u8"},
    {14, "COMPLEX64", "complex64", 64, 4, "<c8"},
    {15, "COMPLEX128", "complex128", 128, 10, "<c16"},
    {16, "BFLOAT16", "bfloat16", 16, 5, "<u2"},
    {17, "FLOAT8E4M3FN", "float8_e4m3fn", 8, 5, "|u1"},
    {18, "FLOAT8E4M3FNUZ", "float8_e4m3fnuz", 8, 5, "|u1"},
    {19, "FLOAT8E5M2", "float8_e5m2", 8, 5, "|u1"},
    {20, "FLOAT8E5M2FNUZ", "float8_e5m2fnuz", 8, 5, "|u1"},
    {21, "UINT4", "uint4", 4, 5, "|u1"},
    {22, "INT4", "int4", 4, 5, "|u1"},
    {23, "FLOAT4E2M1", "float4_e2m1fn", 4, 5, "|u1"},
    {24, "FLOAT8E8M0", "float8_e8m0fnu", 8, 5, "|u1"},
    {25, "UINT2", "uint2", 2, 5, "|u1"},
    {26, "INT2", "int2", 2, 5, "|u1"},
    {27, "FLOAT6E2M3", "float6_e2m3fn", 6, 5, "|u1"},
    {28, "FLOAT6E3M2", "float6_e3m2fn", 6, 5, "|u1"},
};

TEST(DataType, TableIsThatOfTheFormat) {
  ASSERT_EQ(all_data_types().size(), std::size(rows));
  for (const Row& row : rows) {
    const DataType* type = find_data_type(row.number);
    ASSERT_NE(type, nullptr) << row.number;
    EXPECT_EQ(type->number, row.number);
    EXPECT_EQ(type->onnx_name, row.onnx_name);
    EXPECT_EQ(type->name, row.name);
    EXPECT_EQ(type->bits, row.bits) << row.name;
    EXPECT_EQ(static_cast<uint32_t>(type->typed_field), row.typed_field) << row.name;
    EXPECT_EQ(type->numpy, row.numpy) << row.name;
    EXPECT_EQ(&all_data_types()[static_cast<size_t>(row.number - 1)], type);
  }
}

TEST(DataType, OtherNumbersAreUnknown) {
  for (const int32_t number : {0, 29, 30, 1000, -1, -28, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(find_data_type(number), nullptr) << number;
  }
}

TEST(DataType, TypedFieldsHaveTheNamesOfTheSchema) {
  EXPECT_EQ(name_of(TypedField::none), "none");
  EXPECT_EQ(name_of(TypedField::float_data), "float_data");
  EXPECT_EQ(name_of(TypedField::int32_data), "int32_data");
  EXPECT_EQ(name_of(TypedField::string_data), "string_data");
  EXPECT_EQ(name_of(TypedField::int64_data), "int64_data");
  EXPECT_EQ(name_of(TypedField::double_data), "double_data");
  EXPECT_EQ(name_of(TypedField::uint64_data), "uint64_data");
}

std::optional<uint64_t> count(const std::vector<int64_t>& dims) { return element_count(dims); }

TEST(ElementCount, IsTheProduct) {
  EXPECT_EQ(count({}), 1u);
  EXPECT_EQ(count({1}), 1u);
  EXPECT_EQ(count({64, 3, 7, 7}), 9408u);
  EXPECT_EQ(count({1, 1, 1, 1, 1}), 1u);
}

TEST(ElementCount, EndsWith63Bits) {
  constexpr int64_t most = INT64_MAX;
  EXPECT_EQ(count({most}), uint64_t{INT64_MAX});
  EXPECT_EQ(count({most, 1}), uint64_t{INT64_MAX});
  EXPECT_EQ(count({1 << 30, 1 << 30, 4}), uint64_t{1} << 62);
  EXPECT_EQ(count({1 << 30, 1 << 30, 8}), std::nullopt);      // 2^63
  EXPECT_EQ(count({1 << 30, 1 << 30, 16}), std::nullopt);     // 2^64, which is 0 in 64 bits
  EXPECT_EQ(count({1 << 30, 1 << 30, 16, 5}), std::nullopt);  // and what comes after
  EXPECT_EQ(count({most, 2}), std::nullopt);                  // 2^64 - 2
  EXPECT_EQ(count({most, most}), std::nullopt);
  EXPECT_EQ(count({3037000500, 3037000500}), std::nullopt);  // just above 2^63
  EXPECT_EQ(count({3037000499, 3037000499}), 9223372030926249001u);
}

TEST(ElementCount, ZeroDimensionMakesNothingOfAnything) {
  EXPECT_EQ(count({0}), 0u);
  EXPECT_EQ(count({INT64_MAX, INT64_MAX, 0}), 0u);
  EXPECT_EQ(count({0, INT64_MAX, INT64_MAX}), 0u);
}

TEST(ElementCount, NegativeDimensionsAreNone) {
  EXPECT_EQ(count({-1}), std::nullopt);
  EXPECT_EQ(count({-1, -1}), std::nullopt);
  EXPECT_EQ(count({0, -1}), std::nullopt);
  EXPECT_EQ(count({-5, 0}), std::nullopt);
  EXPECT_EQ(count({INT64_MIN}), std::nullopt);
}

TEST(PayloadSize, RoundsUpToBytes) {
  const auto size = [](int32_t type, uint64_t elements) { return payload_size(*find_data_type(type), elements); };
  EXPECT_EQ(size(1, 3), 12u);
  EXPECT_EQ(size(15, 3), 48u);
  const std::vector<std::pair<uint64_t, uint64_t>> four_bits{{0, 0}, {1, 1}, {2, 1}, {3, 2}, {8, 4}, {9, 5}};
  for (const auto& [elements, bytes] : four_bits) EXPECT_EQ(size(22, elements), bytes);
  const std::vector<std::pair<uint64_t, uint64_t>> two_bits{{0, 0}, {1, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}};
  for (const auto& [elements, bytes] : two_bits) EXPECT_EQ(size(25, elements), bytes);
  const std::vector<std::pair<uint64_t, uint64_t>> six_bits{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 3}, {5, 4}, {12, 9}};
  for (const auto& [elements, bytes] : six_bits) EXPECT_EQ(size(27, elements), bytes);
}

TEST(PayloadSize, EndsWith63BitsForEveryType) {
  __extension__ using Wide = unsigned __int128;
  for (const DataType& type : all_data_types()) {
    const Wide border = Wide{INT64_MAX} * 8 / std::max<uint64_t>(type.bits, 1);
    for (const Wide elements : {border - 9, border - 1, border, border + 1, border + 2, border + 9, Wide{UINT64_MAX}}) {
      if (elements > UINT64_MAX) continue;
      const Wide expected = (elements * type.bits + 7) / 8;
      const auto count = static_cast<uint64_t>(elements);
      const auto size = payload_size(type, count);
      EXPECT_EQ(size.has_value(), expected <= INT64_MAX) << type.name << " " << count;
      EXPECT_EQ(size.value_or(0), size ? static_cast<uint64_t>(expected) : 0) << type.name << " " << count;
    }
  }
}

TEST(TypedEntryCount, IsTwoForComplexAndOneAByteForSmallTypes) {
  const auto entries = [](int32_t type, uint64_t elements) { return typed_entries(*find_data_type(type), elements); };
  for (const Row& row : rows) {
    if (row.bits == 4) {
      EXPECT_EQ(entries(row.number, 8), 4u) << row.name;
      EXPECT_EQ(entries(row.number, 9), 5u) << row.name;
    } else if (row.bits == 2) {
      EXPECT_EQ(entries(row.number, 8), 2u) << row.name;
      EXPECT_EQ(entries(row.number, 9), 3u) << row.name;
      EXPECT_EQ(entries(row.number, 11), 3u) << row.name;
    } else {
      EXPECT_EQ(entries(row.number, 9), row.number == 14 || row.number == 15 ? 18u : 9u) << row.name;
    }
    EXPECT_EQ(entries(row.number, 0), 0u) << row.name;
  }
}

}  // namespace
}  // namespace onnxfs
