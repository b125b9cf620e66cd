#include "core/analysis/statistics_collector.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "core/analysis/vectors.h"

namespace onnxfs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What one look at each number tells. Of numbers that are not all finite, and of some that are very large, the squares
// are not finite either, and the rest means nothing.
struct Scan {
  double min = infinity, max = -infinity;
  double distances = 0, squares = 0;  // from the pivot, summed
  int64_t small = 0;                  // in magnitude, than `least`
};

ONNXFS_VECTORISED Scan scan(const double* values, size_t count, double least, double pivot) {
  Doubles min = Doubles{} + infinity, max = -min;
  Doubles distances[2] = {}, squares[2] = {};
  Masks small = {};
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    for (size_t k = 0; k < 2; ++k) {
      Doubles x;
      load(values + i + k * lanes, x);
      min = x < min ? x : min;
      max = x > max ? x : max;
      small -= magnitude_of(x) < least;
      x -= pivot;
      distances[k] += x;
      squares[k] += x * x;
    }
  }
  Scan result;
  for (size_t k = 0; k < lanes; ++k) {
    result.min = std::min(result.min, min[k]);
    result.max = std::max(result.max, max[k]);
  }
  result.distances = sum_of(distances[0] + distances[1]);
  result.squares = sum_of(squares[0] + squares[1]);
  result.small = sum_of(small);
  for (; i < count; ++i) {
    const double x = values[i], distance = x - pivot;
    if (x < result.min) result.min = x;
    if (x > result.max) result.max = x;
    result.small += std::fabs(x) < least;
    result.distances += distance;
    result.squares += distance * distance;
  }
  return result;
}

#define ONNXFS_ENDS(name, T)                                                          \
  ONNXFS_VECTORISED void name(const std::byte* bytes, size_t count, T& min, T& max) { \
    T low = min, high = max;                                                          \
    for (size_t i = 0; i < count; ++i) {                                              \
      T value;                                                                        \
      std::memcpy(&value, bytes + i * sizeof value, sizeof value);                    \
      low = value < low ? value : low;                                                \
      high = value > high ? value : high;                                             \
    }                                                                                 \
    min = low;                                                                        \
    max = high;                                                                       \
  }
ONNXFS_ENDS(signed_ends, int64_t)
ONNXFS_ENDS(unsigned_ends, uint64_t)
#undef ONNXFS_ENDS

template <typename T>
void widen(const std::byte* bytes, size_t count, std::optional<Statistics::Ends>& ends,
           void (*find)(const std::byte*, size_t, T&, T&)) {
  T min = std::numeric_limits<T>::max(), max = std::numeric_limits<T>::min();
  if (ends) {
    min = static_cast<T>(ends->min);
    max = static_cast<T>(ends->max);
  }
  find(bytes, count, min, max);
  ends = {static_cast<uint64_t>(min), static_cast<uint64_t>(max), std::numeric_limits<T>::is_signed};
}

}  // namespace

StatisticsCollector::StatisticsCollector(const NumberDecoder& decoder, Scratch& scratch)
    : decoder_(decoder),
      counts_codes_(8 % decoder.bits() == 0),
      values_(reinterpret_cast<double*>(scratch.bytes(0, 2 * NumberDecoder::block * sizeof(double)))) {
  if (decoder.is_integer()) result_.histogram = Histogram(0);
  auto* recent = new (scratch.bytes(1, sizeof(Histogram::Recent))) Histogram::Recent;
  recent->fill(0);
  result_.histogram.lend(*recent);
  if (counts_codes_) bytes_.resize(tables * codes);
}

void StatisticsCollector::add(const std::byte* bytes, uint64_t numbers) {
  if (counts_codes_) {
    const uint64_t whole = numbers * decoder_.bits() / 8;
    count_bytes(bytes, whole);
    bytes += whole;
    numbers -= whole * 8 / decoder_.bits();
  }
  while (numbers != 0) {
    const size_t count = std::min<uint64_t>(numbers, NumberDecoder::block);
    add_block(bytes, count);
    bytes += decoder_.bytes_of(count);
    numbers -= count;
  }
}

Statistics StatisticsCollector::take() {
  if (counts_codes_) add_counted();
  result_.histogram.settle();
  return std::move(result_);
}

void StatisticsCollector::count_bytes(const std::byte* bytes, uint64_t count) {
  uint64_t* counts = bytes_.data();
  uint64_t i = 0;
  for (; i + tables <= count; i += tables) {
    for (size_t k = 0; k < tables; ++k) ++counts[k * codes + std::to_integer<size_t>(bytes[i + k])];
  }
  for (; i < count; ++i) ++counts[std::to_integer<size_t>(bytes[i])];
}

void StatisticsCollector::add_block(const std::byte* bytes, size_t count) {
  double* values = values_;
  decoder_.decode(bytes, count, values, values + NumberDecoder::block);
  if (decoder_.has_low()) {
    for (size_t i = 0; i < count; ++i) values[i] += values[NumberDecoder::block + i];
    decoder_.is_signed() ? widen(bytes, count, result_.exact_ends, signed_ends)
                         : widen(bytes, count, result_.exact_ends, unsigned_ends);
  }
  result_.numbers += count;
  const double pivot = result_.moments.mean();
  Scan scanned = scan(values, count, least(), pivot);
  const bool is_ordinary = std::isfinite(scanned.squares);
  if (!is_ordinary) {
    count = keep_finite(values, count);
    scanned = scan(values, count, least(), 0);
  }
  if (count == 0) return;
  if (scanned.small != 0) add_small(values, count, scanned.small);
  add_ends(scanned.min, scanned.max);
  const double largest = std::max(std::fabs(scanned.min), std::fabs(scanned.max));
  if (is_ordinary && Moments::has_squares(largest) && result_.moments.count() >= count) {
    result_.moments.add(count, pivot, scanned.distances, scanned.squares);
  } else {
    result_.moments.add({values, count}, largest);
  }
  result_.histogram.add({values, count});
}

// Nothing but zero is smaller than that and not subnormal.
double StatisticsCollector::least() const {
  return decoder_.smallest_normal() != 0 ? decoder_.smallest_normal() : std::numeric_limits<double>::denorm_min();
}

void StatisticsCollector::add_small(const double* values, size_t count, int64_t small) {
  const auto zeros = std::count(values, values + count, 0.0);
  result_.zeros += static_cast<uint64_t>(zeros);
  result_.subnormal += static_cast<uint64_t>(small - zeros);
}

// Counts the others, and closes up.
size_t StatisticsCollector::keep_finite(double* values, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = values[i];
    const bool is_nan = value != value, is_infinite = std::fabs(value) == infinity;
    result_.nan += is_nan;
    result_.infinite += is_infinite;
    values[kept] = value;
    kept += !is_nan && !is_infinite;
  }
  return kept;
}

void StatisticsCollector::add_ends(double low, double high) {
  const bool is_first = result_.moments.count() == 0;
  result_.min = is_first ? low : std::min(result_.min, low);
  result_.max = is_first ? high : std::max(result_.max, high);
  result_.histogram.cover(low, high);
}

void StatisticsCollector::add_counted() {
  std::byte every_byte[codes];
  for (size_t i = 0; i < codes; ++i) every_byte[i] = static_cast<std::byte>(i);
  const size_t per_byte = 8 / decoder_.bits();
  double* values = values_;
  decoder_.decode(every_byte, codes * per_byte, values, nullptr);
  for (size_t i = 0; i < codes * per_byte; ++i) {
    const size_t code = i / per_byte;
    uint64_t times = 0;
    for (size_t k = 0; k < tables; ++k) times += bytes_[k * codes + code];
    if (times != 0) add_times(values[i], times);
  }
}

void StatisticsCollector::add_times(double value, uint64_t times) {
  result_.numbers += times;
  if (std::isnan(value)) result_.nan += times;
  if (std::isinf(value)) result_.infinite += times;
  if (!std::isfinite(value)) return;
  if (value == 0) result_.zeros += times;
  else if (std::fabs(value) < decoder_.smallest_normal()) result_.subnormal += times;
  add_ends(value, value);
  result_.moments.add(value, times);
  result_.histogram.add(value, times);
}

}  // namespace onnxfs
