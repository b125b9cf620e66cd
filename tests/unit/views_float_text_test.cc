#include "core/views/float_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace onnxfs {
namespace {

template <typename Float>
std::string text(Float value) {
  char buffer[64];
  return {buffer, write_float(buffer, value)};
}

TEST(FloatText, IsShortAndLooksLikeAFloat) {
  EXPECT_EQ(text(0.0f), "0.0");
  EXPECT_EQ(text(-0.0f), "-0.0");
  EXPECT_EQ(text(1.0f), "1.0");
  EXPECT_EQ(text(-2.5), "-2.5");
  EXPECT_EQ(text(0.1f), "0.1");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1e5f), "1e+05");
  EXPECT_EQ(text(16777216.0f), "16777216.0");
  EXPECT_EQ(text(1e-5), "1e-05");
  EXPECT_EQ(text(1e300), "1e+300");
}

TEST(FloatText, WhatIsNoNumberIsAsNumpyPrintsIt) {
  for (const float nan :
       {std::bit_cast<float>(0x7fc00000u), std::bit_cast<float>(0xffc12345u), std::bit_cast<float>(0x7f800001u)}) {
    EXPECT_EQ(text(nan), "nan");
  }
  EXPECT_EQ(text(std::bit_cast<double>(uint64_t{0xfff8000000000001})), "nan");
  EXPECT_EQ(text(std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(FloatText, NoNumberIsWiderThanTheWidth) {
  EXPECT_EQ(text(-std::numeric_limits<float>::min()), "-1.1754944e-38");
  EXPECT_EQ(text(std::bit_cast<float>(0x9af8dc57u)), "-1.02926374e-22");
  EXPECT_EQ(text(std::bit_cast<float>(0x9af8dc57u)).size(), float_width);
  EXPECT_EQ(text(-std::numeric_limits<double>::min()).size(), double_width);
  // Integers of so many digits that the scientific form is no longer, of which ".0" would make it longer.
  size_t scientific = 0;
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const double value = std::exp2(static_cast<double>(random() % 100)) * static_cast<double>(random() | 1) * 0x1p-64;
    ASSERT_LE(text(-std::rint(value)).size(), double_width);
    ASSERT_LT(text(std::rint(value)).size(), double_width);
    ASSERT_LT(text(static_cast<float>(std::rint(value))).size(), float_width);
    const std::string shown = text(static_cast<float>(-std::rint(value)));
    ASSERT_LE(shown.size(), float_width) << shown;
    scientific += shown.size() == float_width - 1 && shown.find('e') != std::string::npos;
  }
  EXPECT_NE(scientific, 0u);
}

TEST(FloatText, RandomNumbersReadBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const std::string shown = text(value);
    ASSERT_LE(shown.size(), float_width);
    if (std::isnan(value)) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(std::strtof(shown.c_str(), nullptr)), std::bit_cast<uint32_t>(value)) << shown;
  }
  for (int i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    const std::string shown = text(value);
    ASSERT_LE(shown.size(), double_width);
    if (std::isnan(value)) continue;
    ASSERT_EQ(std::bit_cast<uint64_t>(std::strtod(shown.c_str(), nullptr)), std::bit_cast<uint64_t>(value)) << shown;
  }
}

}  // namespace
}  // namespace onnxfs
