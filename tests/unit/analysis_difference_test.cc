#include "core/analysis/difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::float_bytes;
namespace type = testing::type;

Difference between(const std::string& a, const std::string& b, uint64_t elements, int32_t type_a = type::float32,
                   int32_t type_b = type::float32, const Tolerance& tolerance = {}) {
  Workers workers(2);
  return difference_between({Rope::of(a), find_data_type(type_a)}, {Rope::of(b), find_data_type(type_b)}, elements,
                            tolerance, workers);
}

TEST(Difference, MeasuresOfAFewNumbers) {
  const Difference difference = between(float_bytes({3, 4, 0}), float_bytes({3, 4, 12}), 3);
  EXPECT_FALSE(difference.bytes_equal);
  EXPECT_EQ(difference.numbers, 3u);
  EXPECT_EQ(difference.changed, 1u);
  EXPECT_EQ(difference.max_absolute, 12);
  EXPECT_EQ(difference.mean_absolute(), 4);
  EXPECT_EQ(difference.relative_l2(), 12.0 / 5);
  EXPECT_DOUBLE_EQ(difference.cosine(), 25.0 / (5 * 13));
  EXPECT_DOUBLE_EQ(difference.sqnr(), 20 * std::log10(5.0 / 12));
}

TEST(Difference, OfAndToZero) {
  const Difference from = between(float_bytes({0, 0}), float_bytes({1, 0}), 2);
  EXPECT_TRUE(std::isinf(from.relative_l2()));
  EXPECT_TRUE(std::isnan(from.cosine()));
  const Difference signs = between(float_bytes({0, 1}), float_bytes({-0.0F, 1}), 2);
  EXPECT_EQ(signs.changed, 0u);
  EXPECT_FALSE(signs.bytes_equal);
  EXPECT_EQ(signs.relative_l2(), 0);
}

TEST(Difference, EqualBytesAreEqual) {
  const std::string bytes = float_bytes({NAN, 1});
  EXPECT_TRUE(between(bytes, bytes, 2).bytes_equal);
  EXPECT_TRUE(between("", "", 0).bytes_equal);
  EXPECT_EQ(between("", "", 0, type::float32, type::int64).changed, 0u);
  // Of another type they are not.
  EXPECT_EQ(between(bytes, bytes, 2, type::float32, type::uint32).changed, 2u);
}

TEST(Difference, PayloadsOfOtherSizesAreAnError) {
  EXPECT_ERROR(between(float_bytes({1}), float_bytes({1, 2}), 1), EINVAL, "as many");
  EXPECT_ERROR(between(float_bytes({1}), float_bytes({1}), 2), EINVAL, "as many");
}

TEST(Difference, ToleranceIsOfTheFirst) {
  const std::string a = float_bytes({100, 1}), b = float_bytes({110, 1.5F});
  const auto changed = [&](const Tolerance& tolerance) {
    return between(a, b, 2, type::float32, type::float32, tolerance).changed;
  };
  EXPECT_EQ(changed({0.1, 0, false}), 1u);
  EXPECT_EQ(changed({0.09, 1, false}), 0u);
  EXPECT_EQ(changed({0, 0.5, false}), 1u);
  EXPECT_EQ(changed({0.5, 0, false}), 0u);
}

TEST(CanCompare, WhatIsNumbersOrOfOneType) {
  const auto can = [](int32_t a, int32_t b) { return can_compare(find_data_type(a), find_data_type(b)); };
  EXPECT_TRUE(can(type::float32, type::int4));
  EXPECT_TRUE(can(type::complex64, type::complex128));
  EXPECT_TRUE(can(type::string, type::string));
  EXPECT_TRUE(can_compare(nullptr, nullptr));
  EXPECT_FALSE(can(type::complex64, type::float32));
  EXPECT_FALSE(can(type::string, type::uint8));
  EXPECT_FALSE(can_compare(nullptr, find_data_type(type::uint8)));
}

TEST(StringDifference, PayloadsThatEndInsideOfAStringAreAnError) {
  using namespace std::string_literals;
  Workers workers(1);
  const Rope good = Rope::of("\1\0\0\0a\2\0\0\0bc"s);
  EXPECT_TRUE(string_difference_between(good, good, 2, workers).bytes_equal);
  for (const std::string& bad : {"\1\0\0\0a\3\0\0\0bc"s, "\1\0\0\0a\2\0"s, "\1\0\0\0a"s, ""s}) {
    EXPECT_EQ(testing::caught([&] { string_difference_between(good, Rope::of(bad), 2, workers); }).code, EIO);
    EXPECT_EQ(testing::caught([&] { string_difference_between(Rope::of(bad), good, 2, workers); }).code, EIO);
  }
}

}  // namespace
}  // namespace onnxfs
