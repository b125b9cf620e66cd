#include "core/views/text.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/views/element_format.h"
#include "core/views/small_float.h"
#include "core/views/sub_byte.h"
#include "tests/unit/allocations.h"
#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using testing::content_of;
using testing::float_bytes;
using testing::random_content;
namespace type = testing::type;

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::string text_of(int32_t data_type, uint64_t elements, std::string payload) {
  return text(content_of(data_type, {static_cast<int64_t>(elements)}, std::move(payload))).text();
}

std::vector<std::string> trimmed_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const size_t begin = text.find_first_not_of(' ', at);
    lines.push_back(text.substr(begin, end - begin));
    at = end + 1;
  }
  return lines;
}

TEST(Text, IsAnElementALineOfOneWidth) {
  EXPECT_EQ(text_of(type::float32, 3, float_bytes({1, -0.5f, 1e-20f})),
            "            1.0\n"
            "           -0.5\n"
            "          1e-20\n");
  EXPECT_EQ(text_of(type::uint8, 3, std::string("\0\x09\xff", 3)), "  0\n  9\n255\n");
  EXPECT_EQ(text_of(type::int8, 2, "\x80\x7f"), "-128\n 127\n");
  EXPECT_EQ(text_of(type::boolean, 3, std::string("\0\1\2", 3)), "False\n True\n True\n");
  EXPECT_EQ(text_of(type::int4, 3, "\x8f\x07"), "-1\n-8\n 7\n");
  EXPECT_EQ(text_of(21, 2, "\x0f"), "15\n 0\n");
  EXPECT_EQ(text_of(type::uint2, 4, "\xe4"), "0\n1\n2\n3\n");
  EXPECT_EQ(text_of(26, 4, "\xe4"), " 0\n 1\n-2\n-1\n");
  EXPECT_EQ(text_of(23, 2, "\x9f"), "-6.0\n-0.5\n");
  EXPECT_EQ(text_of(type::float16, 1, std::string("\x66\x2e", 2)), "        0.1\n");
}

TEST(Text, IntegersAreInDecimalAndFitTheirWidth) {
  const auto lines = [](int32_t data_type, uint64_t elements, std::string payload) {
    return trimmed_lines(text_of(data_type, elements, std::move(payload)));
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines(type::uint16, 2, bytes_of<uint16_t>({0, 65535})), (Lines{"0", "65535"}));
  EXPECT_EQ(lines(type::int16, 2, bytes_of<int16_t>({-32768, 32767})), (Lines{"-32768", "32767"}));
  EXPECT_EQ(lines(type::int32, 2, bytes_of<int32_t>({INT32_MIN, 7})), (Lines{"-2147483648", "7"}));
  EXPECT_EQ(lines(type::uint32, 1, bytes_of<uint32_t>({UINT32_MAX})), (Lines{"4294967295"}));
  EXPECT_EQ(lines(type::int64, 1, bytes_of<int64_t>({INT64_MIN})), (Lines{"-9223372036854775808"}));
  EXPECT_EQ(lines(type::uint64, 1, bytes_of<uint64_t>({UINT64_MAX})), (Lines{"18446744073709551615"}));
}

TEST(Text, ComplexNumbersAreAsPythonReadsThem) {
  EXPECT_EQ(trimmed_lines(text_of(type::complex64, 3, float_bytes({1, -0.5f, -0.0f, 0, NAN, -INFINITY}))),
            (std::vector<std::string>{"(1.0-0.5j)", "(-0.0+0.0j)", "(nan-infj)"}));
  const std::string widest = text_of(type::complex128, 1, bytes_of<double>({-0x1p-1022, -0x1p-1022}));
  EXPECT_EQ(widest, "(-2.2250738585072014e-308-2.2250738585072014e-308j)\n");
  const float narrow = std::bit_cast<float>(0x9af8dc57u);
  EXPECT_EQ(text_of(type::complex64, 1, float_bytes({narrow, narrow})), "(-1.02926374e-22-1.02926374e-22j)\n");
}

TEST(Text, EveryLineOfEveryTypeHasTheWidthOfItsType) {
  for (const DataType& type : all_data_types()) {
    if (type.number == string_type) continue;
    SCOPED_TRACE(type.name);
    const TensorContent content = random_content(type, 70'001, 4);
    const Rope lines = text(content);
    EXPECT_EQ(lines.size(), text_size(content));
    const std::string whole = lines.text();
    const size_t width = element_format(&type).width;
    ASSERT_EQ(whole.size(), 70'001 * (width + 1));
    for (size_t i = 0; i < 70'001; ++i) {
      ASSERT_EQ(whole.find('\n', i * (width + 1)), i * (width + 1) + width);
      ASSERT_NE(whole[i * (width + 1) + width - 1], ' ');
    }
    testing::expect_reads_alike(lines, whole);
  }
}

TEST(Text, EveryRangeOfAFewElementsIsRight) {
  for (const DataType& type : all_data_types()) {
    if (type.number == string_type) continue;
    for (const uint64_t elements : {0, 1, 2, 3}) {
      const Rope lines = text(random_content(type, elements, elements));
      testing::expect_every_read_alike(lines, lines.text());
    }
  }
}

// All codes of the types with few of them, whose lines are in tables.
TEST(Text, EveryNumberOfASmallTypeIsItsOwn) {
  for (const DataType& type : all_data_types()) {
    const SmallFloat* small = find_small_float(type);
    if (small == nullptr) continue;
    SCOPED_TRACE(type.name);
    const uint32_t count = 1u << type.bits;
    std::string payload(*payload_size(type, count), '\0');
    for (uint32_t code = 0; code < count; ++code) {
      const uint64_t bit = uint64_t{code} * type.bits;
      for (unsigned i = 0; i < type.bits; ++i) {
        char& c = payload[(bit + i) / 8];
        c = static_cast<char>(c | (code >> i & 1) << (bit + i) % 8);
      }
    }
    const auto lines = trimmed_lines(text_of(type.number, count, payload));
    ASSERT_EQ(lines.size(), count);
    EXPECT_EQ(std::ranges::max(lines, {}, &std::string::size).size(), element_format(&type).width);
    for (uint32_t code = 0; code < count; ++code) {
      const double value = shortest_decimal(*small, code);
      if (std::isnan(value)) {
        EXPECT_EQ(lines[code], "nan");
      } else if (!small->has_sign) {
        EXPECT_EQ(std::strtof(lines[code].c_str(), nullptr), static_cast<float>(value));
      } else {
        EXPECT_EQ(std::strtod(lines[code].c_str(), nullptr), value) << code;
      }
    }
  }
}

TEST(Text, UnknownTypesAreBytes) {
  const TensorContent content = content_of(99, {7, -1}, "a\xff");
  EXPECT_EQ(text(content).text(), " 97\n255\n");
  EXPECT_EQ(text_size(content), 8u);
}

TEST(Text, SizeAndFileNeedNoPayloadAndNoMemory) {
  for (const DataType& type : all_data_types()) {
    if (type.number == string_type) continue;
    const TensorContent content = testing::unreadable_content(type, uint64_t{1} << 45);
    const testing::AllocationWatch watch;
    EXPECT_EQ(text_size(content), (element_format(&type).width + 1) << 45);
    EXPECT_EQ(text(content).size(), text_size(content));
    EXPECT_LE(watch.bytes(), 4096u);
  }
}

TEST(Text, ReadingHoldsNothing) {
  auto zeros = std::make_shared<testing::PatchworkSource>();
  zeros->hole(uint64_t{1} << 30);
  const Rope lines = text(content_of(type::float32, {1 << 28}, Rope::of(zeros)));
  std::string out(1 << 20, '\0');
  const testing::AllocationWatch watch;
  lines.read(uint64_t{1} << 31, std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(watch.bytes(), 0u);
  EXPECT_LE(zeros->bytes_read(), (out.size() / 16 + 2) * 4);
}

TEST(Text, WhatNoFileCanHoldIsRefused) {
  TensorContent content = content_of(25, {INT64_MAX}, "");
  EXPECT_ERROR(text_size(content), EOVERFLOW, "larger than any file");
}

TEST(Text, FailsAsItsPayloadDoes) {
  for (const DataType& type : all_data_types()) {
    if (type.number == string_type) continue;
    EXPECT_ERROR(text(testing::unreadable_content(type, 9)).text(), EIO, "on fire");
  }
}

}  // namespace
}  // namespace onnxfs
