#include "core/views/small_float.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace onnxfs {

namespace {

using enum SmallFloat::Special;

constexpr std::array<SmallFloat, 10> types{{
    {"FLOAT16", 5, 10, 15, largest_exponent},
    {"BFLOAT16", 8, 7, 127, largest_exponent},
    {"FLOAT8E4M3FN", 4, 3, 7, largest_magnitude},
    {"FLOAT8E4M3FNUZ", 4, 3, 8, negative_zero},
    {"FLOAT8E5M2", 5, 2, 15, largest_exponent},
    {"FLOAT8E5M2FNUZ", 5, 2, 16, negative_zero},
    {"FLOAT4E2M1", 2, 1, 1, none},
    {"FLOAT8E8M0", 8, 0, 127, largest_magnitude, false},
    {"FLOAT6E2M3", 2, 3, 1, none},
    {"FLOAT6E3M2", 3, 2, 3, none},
}};

// digits × 10^exponent.
struct Decimal {
  uint64_t digits;
  int exponent;

  // The one nearest to a number, of so many digits.
  static Decimal nearest(double number, int count) {
    std::string text = fmt::format("{:.{}e}", number, count - 1);  // d.ddde-dd
    std::erase(text, '.');
    Decimal decimal{};
    const char* end = text.data() + text.size();
    const char* e = std::from_chars(text.data(), end, decimal.digits).ptr;
    e += e[1] == '+' ? 2 : 1;
    std::from_chars(e, end, decimal.exponent);
    decimal.exponent -= count - 1;
    return decimal;
  }

  double value() const {
    const std::string text = fmt::format("{}e{}", digits, exponent);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
};

}  // namespace

double SmallFloat::magnitude(uint32_t code) const {
  const int exponent = static_cast<int>(code >> fraction_bits);
  const uint32_t fraction = code & ((1u << fraction_bits) - 1);
  if (!has_sign) return std::ldexp(1.0, exponent - bias);
  const uint32_t one = exponent == 0 ? 0 : 1u << fraction_bits;
  return std::ldexp(one + fraction, std::max(exponent, 1) - bias - static_cast<int>(fraction_bits));
}

double SmallFloat::value(uint32_t code) const {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  code &= (1u << bits()) - 1;
  const uint32_t largest = (1u << (exponent_bits + fraction_bits)) - 1;
  const bool negative = code > largest;
  const uint32_t rest = code & largest;
  const uint32_t fraction = rest & ((1u << fraction_bits) - 1);
  switch (special) {
    case none: break;
    case largest_exponent:
      if (rest - fraction != largest >> fraction_bits << fraction_bits) break;
      if (fraction != 0) return nan;
      return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    case largest_magnitude:
      if (rest == largest) return nan;
      break;
    case negative_zero:
      if (negative && rest == 0) return nan;
      break;
  }
  return negative ? -magnitude(rest) : magnitude(rest);
}

const SmallFloat* find_small_float(const DataType& type) {
  const auto found = std::ranges::find(types, type.onnx_name, &SmallFloat::onnx_name);
  return found == types.end() ? nullptr : &*found;
}

double shortest_decimal(const SmallFloat& type, uint32_t code) {
  const double value = type.value(code);
  if (!type.has_sign || value == 0 || !std::isfinite(value)) return value;
  const uint32_t rest = code & ((1u << (type.exponent_bits + type.fraction_bits)) - 1);
  const double size = type.magnitude(rest);
  // Exact: a fraction of one bit more.
  const double low = (type.magnitude(rest - 1) + size) / 2;
  const double high = (size + type.magnitude(rest + 1)) / 2;
  constexpr int enough = std::numeric_limits<double>::max_digits10;
  for (int digits = 1; digits <= enough; ++digits) {
    Decimal decimal = Decimal::nearest(size, digits);
    // Numbers from a power of two on are twice as far apart as those below it, so that where the nearest decimal is too
    // far below, the next one may do.
    if (decimal.value() <= low) ++decimal.digits;
    const double number = decimal.value();
    if (number > low && number < high) return std::copysign(number, value);
  }
  return value;
}

}  // namespace onnxfs
