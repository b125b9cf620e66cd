#include "core/analysis/difference_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/analysis/vectors.h"

namespace onnxfs {

namespace {

constexpr double largest_double = std::numeric_limits<double>::max();

ONNXFS_VECTORISED bool all_finite(const double* values, size_t count) {
  Masks are = ~Masks{};
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Doubles x;
    load(values + i, x);
    are &= magnitude_of(x) <= largest_double;
  }
  bool all = sum_of(are) == -static_cast<int64_t>(lanes);
  for (; i < count; ++i) all = all && std::isfinite(values[i]);
  return all;
}

// Sums over one block.
struct Sums {
  int64_t changed = 0;
  double max_absolute = 0, absolute = 0, squared = 0, a_squared = 0, b_squared = 0, products = 0;

  void add(double a, double b, double difference, double allowed) {
    const double distance = std::fabs(difference);
    changed += distance > allowed;
    max_absolute = std::max(max_absolute, distance);
    absolute += distance;
    squared += difference * difference;
    a_squared += a * a;
    b_squared += b * b;
    products += a * b;
  }
};

// All finite. Where there are low parts, the difference is that of the others, which is exact unless the numbers are
// far apart (no double is near an integer of over 31 bits and has a finer ulp than 2^-21), and that of the low ones,
// which is exact. So it is 0 for equal numbers only, and rounded once for near ones.
template <bool has_low>
ONNXFS_INLINE Sums sums_of(const double* a, const double* b, const double* a_low, const double* b_low, size_t count,
                           double relative, double absolute) {
  Doubles max_absolute = {}, distances = {}, squared = {}, a_squared = {}, b_squared = {}, products = {};
  Masks changed = {};
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Doubles x, y;
    load(a + i, x);
    load(b + i, y);
    Doubles difference = y - x;
    if constexpr (has_low) {
      Doubles x_low, y_low;
      load(a_low + i, x_low);
      load(b_low + i, y_low);
      difference += y_low - x_low;
      x += x_low;
      y += y_low;
    }
    const Doubles distance = magnitude_of(difference);
    changed -= distance > absolute + relative * magnitude_of(x);
    max_absolute = distance > max_absolute ? distance : max_absolute;
    distances += distance;
    squared += difference * difference;
    a_squared += x * x;
    b_squared += y * y;
    products += x * y;
  }
  Sums sums;
  sums.changed = sum_of(changed);
  for (size_t k = 0; k < lanes; ++k) sums.max_absolute = std::max(sums.max_absolute, max_absolute[k]);
  sums.absolute = sum_of(distances);
  sums.squared = sum_of(squared);
  sums.a_squared = sum_of(a_squared);
  sums.b_squared = sum_of(b_squared);
  sums.products = sum_of(products);
  for (; i < count; ++i) {
    const double x = a[i] + (has_low ? a_low[i] : 0), y = b[i] + (has_low ? b_low[i] : 0);
    const double difference = (b[i] - a[i]) + (has_low ? b_low[i] - a_low[i] : 0);
    sums.add(x, y, difference, absolute + relative * std::fabs(x));
  }
  return sums;
}

ONNXFS_VECTORISED Sums sums_of_plain(const double* a, const double* b, size_t count, double relative, double absolute) {
  return sums_of<false>(a, b, nullptr, nullptr, count, relative, absolute);
}

ONNXFS_VECTORISED Sums sums_of_long(const double* a, const double* b, const double* a_low, const double* b_low,
                                    size_t count, double relative, double absolute) {
  return sums_of<true>(a, b, a_low, b_low, count, relative, absolute);
}

ONNXFS_VECTORISED double sum_of_squares(const double* values, size_t count) {
  Doubles sums[2] = {};
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    for (size_t k = 0; k < 2; ++k) {
      Doubles x;
      load(values + i + k * lanes, x);
      sums[k] += x * x;
    }
  }
  double rest = 0;
  for (; i < count; ++i) rest += values[i] * values[i];
  return sum_of(sums[0] + sums[1]) + rest;
}

// Whether a sum of squares tells that none overflowed, and that those that vanished are nothing beside it.
bool is_ordinary(double squares) { return squares >= 0x1p-800 && squares <= 0x1p800; }

double largest_of(const double* values, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
  return largest;
}

// Counts numbers in units of 2^exponent, where their squares are out of range; exactly but for those that are nothing
// beside the largest. Returns the exponent.
int scale(double* values, size_t count) {
  const double largest = largest_of(values, count);
  if (largest == 0 || Moments::has_squares(largest)) return 0;
  const int exponent = std::ilogb(largest);
  const double half = std::ldexp(1.0, -exponent / 2),
               rest = std::ldexp(1.0, -exponent - -exponent / 2);  // 2^1074 is no double
  for (size_t i = 0; i < count; ++i) values[i] = values[i] * half * rest;
  return exponent;
}

// The differences, in units of 2^exponent, which is returned: two doubles may be further apart than any is from 0.
int differences(const double* a, const double* b, const double* a_low, const double* b_low, size_t count, double* to) {
  bool all = true;
  for (size_t i = 0; i < count; ++i) {
    to[i] = (b[i] - a[i]) + (b_low[i] - a_low[i]);
    all = all && std::isfinite(to[i]);
  }
  if (all) return scale(to, count);
  for (size_t i = 0; i < count; ++i) to[i] = b[i] / 4 - a[i] / 4;
  return 2 + scale(to, count);
}

}  // namespace

DifferenceKernel::Side::Side(const NumberDecoder& decodes, std::byte* room)
    : decoder(decodes), numbers(reinterpret_cast<double*>(room)) {
  std::fill_n(low(), NumberDecoder::block, 0.0);
}

DifferenceKernel::DifferenceKernel(const NumberDecoder& a, const NumberDecoder& b, bool same_type,
                                   const Tolerance& tolerance, Scratch& scratch)
    : a_(a, scratch.bytes(0, 2 * NumberDecoder::block * sizeof(double))),
      b_(b, scratch.bytes(1, 2 * NumberDecoder::block * sizeof(double))),
      same_type_(same_type),
      has_low_(a.has_low() || b.has_low()),
      is_wide_(a.is_wide() || b.is_wide()),
      tolerance_(tolerance) {}

void DifferenceKernel::add(const std::byte* a, const std::byte* b, uint64_t numbers) {
  while (numbers != 0) {
    const size_t count = std::min<uint64_t>(numbers, NumberDecoder::block);
    const uint64_t a_bytes = a_.decoder.bytes_of(count), b_bytes = b_.decoder.bytes_of(count);
    if (same_type_ && std::memcmp(a, b, a_bytes) == 0) add_equal_block(a, count);
    else add_block(a, b, count);
    a += a_bytes;
    b += b_bytes;
    numbers -= count;
  }
}

void DifferenceKernel::add_equal(const std::byte* both, uint64_t numbers) {
  while (numbers != 0) {
    const size_t count = std::min<uint64_t>(numbers, NumberDecoder::block);
    add_equal_block(both, count);
    both += a_.decoder.bytes_of(count);
    numbers -= count;
  }
}

void DifferenceKernel::add_block(const std::byte* a, const std::byte* b, size_t count) {
  a_.decode(a, count);
  b_.decode(b, count);
  result_.numbers += count;
  if (!all_finite(a_.values(), count) || !all_finite(b_.values(), count)) count = keep_finite(a, b, count);
  const Sums sums = has_low_ ? sums_of_long(a_.values(), b_.values(), a_.low(), b_.low(), count, tolerance_.relative,
                                            tolerance_.absolute)
                             : sums_of_plain(a_.values(), b_.values(), count, tolerance_.relative, tolerance_.absolute);
  result_.finite += count;
  result_.changed += static_cast<uint64_t>(sums.changed);
  result_.max_absolute = std::max(result_.max_absolute, sums.max_absolute);
  if (is_wide_ && count != 0 &&
      !(is_ordinary(sums.a_squared) && is_ordinary(sums.b_squared) &&
        (sums.max_absolute == 0 || Moments::has_squares(sums.max_absolute)))) {
    return add_scaled(count);
  }
  result_.absolute.add(sums.absolute);
  result_.squared.add(sums.squared);
  result_.a_squared.add(sums.a_squared);
  result_.b_squared.add(sums.b_squared);
  result_.products.add(sums.products);
}

// The sums over the block once more, of numbers in units of powers of two.
void DifferenceKernel::add_scaled(size_t count) {
  double* a = a_.values();
  double* b = b_.values();
  std::vector<double> apart(count);
  const int exponent = differences(a, b, a_.low(), b_.low(), count, apart.data());
  for (size_t i = 0; i < count; ++i) a[i] += a_.low()[i], b[i] += b_.low()[i];
  const int a_exponent = scale(a, count), b_exponent = scale(b, count);
  double distances = 0, products = 0;
  for (size_t i = 0; i < count; ++i) {
    distances += std::fabs(apart[i]);
    products += a[i] * b[i];
  }
  result_.absolute.add(distances, exponent);
  result_.squared.add(sum_of_squares(apart.data(), count), 2 * exponent);
  result_.a_squared.add(sum_of_squares(a, count), 2 * a_exponent);
  result_.b_squared.add(sum_of_squares(b, count), 2 * b_exponent);
  result_.products.add(products, a_exponent + b_exponent);
}

void DifferenceKernel::add_equal_block(const std::byte* both, size_t count) {
  a_.decode(both, count);
  double* values = a_.values();
  result_.numbers += count;
  if (a_.decoder.has_low()) {
    for (size_t i = 0; i < count; ++i) values[i] += a_.low()[i];
  }
  if (!all_finite(values, count)) {
    count = static_cast<size_t>(std::remove_if(values, values + count, [](double x) { return !std::isfinite(x); }) -
                                values);
  }
  double squares = sum_of_squares(values, count);
  int exponent = 0;
  if (is_wide_ && !is_ordinary(squares)) {
    exponent = scale(values, count);
    squares = sum_of_squares(values, count);
  }
  result_.finite += count;
  for (ScaledSum* sum : {&result_.a_squared, &result_.b_squared, &result_.products}) sum->add(squares, 2 * exponent);
}

// Judges the pairs that are not both finite, and closes up the others.
size_t DifferenceKernel::keep_finite(const std::byte* a, const std::byte* b, size_t count) {
  size_t kept = 0;
  const size_t width = a_.decoder.bits() / 8;  // no type of less than a byte is here
  for (size_t i = 0; i < count; ++i) {
    const double x = a_.values()[i], y = b_.values()[i];
    if (std::isfinite(x) && std::isfinite(y)) {
      for (const Side* side : {&a_, &b_}) {
        side->values()[kept] = side->values()[i];
        side->low()[kept] = side->low()[i];
      }
      ++kept;
      continue;
    }
    const bool both_nan = std::isnan(x) && std::isnan(y);
    const bool is_same =
        x == y ||
        (both_nan && (tolerance_.equal_nan || (same_type_ && std::memcmp(a + i * width, b + i * width, width) == 0)));
    result_.changed += !is_same;
    result_.new_nan += std::isnan(y) && !std::isnan(x);
    result_.new_infinite += std::isinf(y) && !std::isinf(x);
  }
  return kept;
}

}  // namespace onnxfs
