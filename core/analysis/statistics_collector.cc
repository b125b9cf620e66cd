#include "core/analysis/statistics_collector.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "core/analysis/block_scan.h"
#include "core/analysis/vectors.h"

namespace onnxfs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename T>
ONNXFS_INLINE void extend_ends(const std::byte* bytes, size_t count, T& min, T& max) {
  T low = min, high = max;
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  min = low;
  max = high;
}
ONNXFS_VECTORISED void signed_ends(const std::byte* bytes, size_t count, int64_t& min, int64_t& max) {
  extend_ends(bytes, count, min, max);
}
ONNXFS_VECTORISED void unsigned_ends(const std::byte* bytes, size_t count, uint64_t& min, uint64_t& max) {
  extend_ends(bytes, count, min, max);
}

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
  result_.numbers += count;
  if (decoder_.is_single() && add_ordinary(reinterpret_cast<const float*>(bytes), count)) return;
  double* values = values_;
  decoder_.decode(bytes, count, values, values + NumberDecoder::block);
  if (decoder_.has_low()) {
    for (size_t i = 0; i < count; ++i) values[i] += values[NumberDecoder::block + i];
    decoder_.is_signed() ? widen(bytes, count, result_.exact_ends, signed_ends)
                         : widen(bytes, count, result_.exact_ends, unsigned_ends);
  }
  if (!decoder_.is_single() && add_ordinary(values, count)) return;
  count = keep_finite(values, count);
  if (count == 0) return;
  const BlockScan scanned = scan_block(values, count, least(), 0);
  add_scanned(values, count, scanned);
  result_.moments.add({values, count}, std::max(std::fabs(scanned.min), std::fabs(scanned.max)));
}

// In one pass, which wants a mean that is known, and numbers that are finite and have squares. False if they are not
// so, and nothing is added then.
template <typename T>
bool StatisticsCollector::add_ordinary(const T* values, size_t count) {
  if (result_.moments.count() < count) return false;
  const double pivot = result_.moments.mean();
  const BlockScan scanned = scan_block(values, count, least(), pivot);
  if (!std::isfinite(scanned.squares)) return false;
  if (!Moments::has_squares(std::max(std::fabs(scanned.min), std::fabs(scanned.max)))) return false;
  add_scanned(values, count, scanned);
  result_.moments.add(count, pivot, scanned.distances, scanned.squares);
  return true;
}

// All but the moments.
template <typename T>
void StatisticsCollector::add_scanned(const T* values, size_t count, const BlockScan& scanned) {
  if (scanned.small != 0) {
    const auto zeros = std::count(values, values + count, T{0});
    result_.zeros += static_cast<uint64_t>(zeros);
    result_.subnormal += static_cast<uint64_t>(scanned.small - zeros);
  }
  add_ends(scanned.min, scanned.max);
  result_.histogram.add(std::span(values, count));
}

// Nothing but zero is smaller than that and not subnormal.
double StatisticsCollector::least() const {
  return decoder_.smallest_normal() != 0 ? decoder_.smallest_normal() : std::numeric_limits<double>::denorm_min();
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
