#include "core/views/small_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/views/float_text.h"

namespace onnxfs {
namespace {

const SmallFloat& small(std::string_view name) {
  for (const DataType& type : all_data_types()) {
    if (type.onnx_name == name) return *find_small_float(type);
  }
  throw std::out_of_range(std::string(name));
}

std::string text(double value) {
  char buffer[64];
  return {buffer, write_float(buffer, value)};
}

std::string shortest(std::string_view type, uint32_t code) { return text(shortest_decimal(small(type), code)); }

TEST(SmallFloat, AreAllFloatsOfAtMost16Bits) {
  for (const DataType& type : all_data_types()) {
    const bool is_small = type.bits <= 16 && type.name.find("float") == 0 + (type.name[0] == 'b' ? 1u : 0u);
    const SmallFloat* found = find_small_float(type);
    ASSERT_EQ(found != nullptr, is_small) << type.name;
    if (found != nullptr) {
      EXPECT_EQ(found->bits(), type.bits);
    }
  }
}

TEST(SmallFloat, ValuesAreThoseOfTheFormats) {
  EXPECT_EQ(small("FLOAT16").value(0x3c00), 1);
  EXPECT_EQ(small("FLOAT16").value(0x7bff), 65504);
  EXPECT_EQ(small("FLOAT16").value(0x0001), std::ldexp(1, -24));
  EXPECT_EQ(small("FLOAT16").value(0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(small("FLOAT16").value(0x7c01)));
  EXPECT_EQ(small("BFLOAT16").value(0x3f80), 1);
  EXPECT_EQ(small("BFLOAT16").value(0x7f80), INFINITY);
  EXPECT_EQ(small("BFLOAT16").value(0x0001), std::ldexp(1, -133));
  EXPECT_EQ(small("FLOAT8E4M3FN").value(0x7e), 448);
  EXPECT_TRUE(std::isnan(small("FLOAT8E4M3FN").value(0xff)));
  EXPECT_EQ(small("FLOAT8E4M3FNUZ").value(0x7f), 240);
  EXPECT_TRUE(std::isnan(small("FLOAT8E4M3FNUZ").value(0x80)));
  EXPECT_EQ(small("FLOAT8E5M2").value(0x7b), 57344);
  EXPECT_EQ(small("FLOAT8E5M2").value(0x7c), INFINITY);
  EXPECT_TRUE(std::isnan(small("FLOAT8E5M2").value(0x7d)));
  EXPECT_EQ(small("FLOAT8E5M2FNUZ").value(0x7f), 57344);
  EXPECT_TRUE(std::isnan(small("FLOAT8E5M2FNUZ").value(0x80)));
  const double fours[] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(small("FLOAT4E2M1").value(i), fours[i]);
    EXPECT_EQ(small("FLOAT4E2M1").value(8 + i), -fours[i]);
  }
  EXPECT_TRUE(std::signbit(small("FLOAT4E2M1").value(8)));
  EXPECT_EQ(small("FLOAT6E2M3").value(0x1f), 7.5);
  EXPECT_EQ(small("FLOAT6E2M3").value(0x01), 0.125);
  EXPECT_EQ(small("FLOAT6E3M2").value(0x1f), 28);
  EXPECT_EQ(small("FLOAT6E3M2").value(0x21), -0.0625);
  EXPECT_EQ(small("FLOAT8E8M0").value(0), std::ldexp(1, -127));
  EXPECT_EQ(small("FLOAT8E8M0").value(254), std::ldexp(1, 127));
  EXPECT_TRUE(std::isnan(small("FLOAT8E8M0").value(255)));
}

TEST(SmallFloat, DecimalsAreAsShortAsTheTypeAllows) {
  EXPECT_EQ(shortest("FLOAT16", 0x2e66), "0.1");
  EXPECT_EQ(shortest("FLOAT16", 0x7bff), "65500.0");
  EXPECT_EQ(shortest("FLOAT16", 0x0001), "6e-08");
  EXPECT_EQ(shortest("FLOAT16", 0x8000), "-0.0");
  EXPECT_EQ(shortest("BFLOAT16", 0x3dcd), "0.1");
  EXPECT_EQ(shortest("BFLOAT16", 0x7f7f), "3.39e+38");
  EXPECT_EQ(shortest("FLOAT8E4M3FN", 0x7e), "450.0");
  EXPECT_EQ(shortest("FLOAT4E2M1", 3), "1.5");
  EXPECT_EQ(shortest("FLOAT8E8M0", 131), "16.0");
}

// Every number is read back as itself: it is the one of its type that its decimal is nearest to, and the only one.
TEST(SmallFloat, EveryDecimalReadsBack) {
  for (const DataType& data_type : all_data_types()) {
    const SmallFloat* type = find_small_float(data_type);
    if (type == nullptr) continue;
    SCOPED_TRACE(data_type.name);
    std::vector<double> numbers;
    for (uint32_t code = 0; code < 1u << type->bits(); ++code) {
      if (std::isfinite(type->value(code))) numbers.push_back(type->value(code));
    }
    std::ranges::sort(numbers);
    for (uint32_t code = 0; code < 1u << type->bits(); ++code) {
      const double value = type->value(code);
      const std::string shown = text(shortest_decimal(*type, code));
      if (std::isnan(value)) {
        ASSERT_EQ(shown, "nan");
        continue;
      }
      const double read = std::strtod(shown.c_str(), nullptr);
      ASSERT_EQ(std::signbit(read), std::signbit(value)) << code;
      if (std::isinf(value) || value == 0) {
        ASSERT_EQ(read, value);
        continue;
      }
      const auto at = std::ranges::lower_bound(numbers, value);
      const double distance = std::abs(read - value);
      if (at != numbers.begin()) {
        ASSERT_LT(distance, std::abs(read - *std::prev(at))) << code << " " << shown;
      }
      if (std::next(at) != numbers.end()) {
        ASSERT_LT(distance, std::abs(read - *std::next(at))) << code << " " << shown;
      }
      // What rounds to infinity: half the last distance past the largest number.
      if (std::next(at) == numbers.end()) {
        ASSERT_LT(read, value + (value - *std::prev(at)) / 2);
      }
    }
  }
}

// No decimal of a digit less would do, above or below.
TEST(SmallFloat, NoShorterDecimalReadsBack) {
  for (const std::string_view name : {"FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT6E3M2"}) {
    const SmallFloat& type = small(name);
    const uint32_t step = type.bits() > 8 ? 7 : 1;
    for (uint32_t code = 1; code < 1u << (type.bits() - 1); code += step) {
      if (!std::isfinite(type.value(code))) continue;
      const double value = type.value(code);
      const double low = (type.magnitude(code - 1) + value) / 2, high = (type.magnitude(code + 1) + value) / 2;
      char scientific[64];
      std::snprintf(scientific, sizeof scientific, "%.17g", shortest_decimal(type, code));
      int digits = 1;
      while (digits < 17) {
        std::snprintf(scientific, sizeof scientific, "%.*e", digits - 1, shortest_decimal(type, code));
        if (std::strtod(scientific, nullptr) == shortest_decimal(type, code)) break;
        ++digits;
      }
      if (digits == 1) continue;
      const double unit = std::pow(10, std::floor(std::log10(value)) - (digits - 2));
      for (const double shorter : {std::floor(value / unit) * unit, std::ceil(value / unit) * unit}) {
        ASSERT_FALSE(shorter > low * (1 + 1e-12) && shorter < high * (1 - 1e-12)) << name << " " << code;
      }
    }
  }
}

}  // namespace
}  // namespace onnxfs
