#include "core/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/analysis/shares.h"
#include "core/analysis/string_cursor.h"
#include "core/analysis/vectors.h"

namespace onnxfs {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_double = std::numeric_limits<double>::max();

// What one look at each number tells.
struct Scan {
  int64_t finite = 0, zeros = 0, subnormal = 0;
  double min = infinity, max = -infinity;  // of all that are no NaN
};

ONNXFS_VECTORISED Scan scan(const double* values, size_t count, double smallest_normal) {
  Doubles min = {infinity, infinity, infinity, infinity}, max = -min;
  Masks infinite = {}, nonzero = {}, normal = {};
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Doubles x;
    load(values + i, x);
    const Doubles magnitude = magnitude_of(x);
    infinite -= ~(magnitude <= largest_double);
    nonzero -= x != 0.0;
    normal -= ~(magnitude < smallest_normal);
    min = x < min ? x : min;
    max = x > max ? x : max;
  }
  Scan result;
  result.finite = static_cast<int64_t>(i) - sum_of(infinite);
  result.zeros = static_cast<int64_t>(i) - sum_of(nonzero);
  result.subnormal = static_cast<int64_t>(i) - sum_of(normal);
  for (size_t k = 0; k < lanes; ++k) {
    result.min = std::min(result.min, min[k]);
    result.max = std::max(result.max, max[k]);
  }
  for (; i < count; ++i) {
    const double x = values[i];
    result.finite += std::isfinite(x);
    result.zeros += x == 0;
    result.subnormal += std::fabs(x) < smallest_normal;
    if (x < result.min) result.min = x;
    if (x > result.max) result.max = x;
  }
  if (smallest_normal != 0) result.subnormal -= result.zeros;
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

// The statistics of a share. Types of at most 8 bits have so few values that counting bytes is all there is to do.
class Collector {
 public:
  // `values` has room for two blocks.
  Collector(const NumberDecoder& decoder, double* values)
      : decoder_(decoder), counts_codes_(8 % decoder.bits() == 0), values_(values) {
    if (decoder.is_integer()) result_.histogram = Histogram(0);
    if (counts_codes_) bytes_.resize(tables * codes);
  }

  // Whole blocks, but for the last call.
  void add(const std::byte* bytes, uint64_t numbers) {
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

  Statistics take() {
    if (counts_codes_) add_counted();
    result_.histogram.settle();
    return std::move(result_);
  }

 private:
  static constexpr size_t codes = 256, tables = 4;

  void count_bytes(const std::byte* bytes, uint64_t count) {
    uint64_t* counts = bytes_.data();
    uint64_t i = 0;
    for (; i + tables <= count; i += tables) {
      for (size_t k = 0; k < tables; ++k) ++counts[k * codes + std::to_integer<size_t>(bytes[i + k])];
    }
    for (; i < count; ++i) ++counts[std::to_integer<size_t>(bytes[i])];
  }

  void add_block(const std::byte* bytes, size_t count) {
    double* values = values_;
    decoder_.decode(bytes, count, values, values + NumberDecoder::block);
    if (decoder_.has_low()) {
      for (size_t i = 0; i < count; ++i) values[i] += values[NumberDecoder::block + i];
      decoder_.is_signed() ? widen(bytes, count, result_.exact_ends, signed_ends)
                           : widen(bytes, count, result_.exact_ends, unsigned_ends);
    }
    result_.numbers += count;
    Scan scanned = scan(values, count, decoder_.smallest_normal());
    if (static_cast<size_t>(scanned.finite) != count) {
      count = keep_finite(values, count);
      scanned = scan(values, count, decoder_.smallest_normal());
    }
    if (count == 0) return;
    result_.zeros += scanned.zeros;
    result_.subnormal += scanned.subnormal;
    add_ends(scanned.min, scanned.max);
    result_.moments.add({values, count}, std::max(std::fabs(scanned.min), std::fabs(scanned.max)));
    result_.histogram.add({values, count});
  }

  // Counts the others, and closes up.
  size_t keep_finite(double* values, size_t count) {
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

  void add_ends(double low, double high) {
    const bool is_first = result_.moments.count() == 0;
    result_.min = is_first ? low : std::min(result_.min, low);
    result_.max = is_first ? high : std::max(result_.max, high);
    result_.histogram.cover(low, high);
  }

  void add_counted() {
    std::byte every_byte[codes];
    for (size_t i = 0; i < codes; ++i) every_byte[i] = static_cast<std::byte>(i);
    const size_t per_byte = 8 / decoder_.bits();
    double* values = values_;
    decoder_.decode(every_byte, codes * per_byte, values, nullptr);
    for (size_t i = 0; i < codes * per_byte; ++i) {
      const size_t code = i / per_byte;
      uint64_t times = 0;
      for (size_t k = 0; k < tables; ++k) times += bytes_[k * codes + code];
      if (times != 0) add(values[i], times);
    }
  }

  void add(double value, uint64_t times) {
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

  const NumberDecoder& decoder_;
  const bool counts_codes_;
  double* const values_;         // a block, and its low parts
  std::vector<uint64_t> bytes_;  // how often each byte was seen, in several tables
  Statistics result_;
};

}  // namespace

void Statistics::add(const Statistics& other) {
  numbers += other.numbers;
  nan += other.nan;
  infinite += other.infinite;
  zeros += other.zeros;
  subnormal += other.subnormal;
  if (other.moments.count() == 0) return;
  const bool is_first = moments.count() == 0;
  min = is_first ? other.min : std::min(min, other.min);
  max = is_first ? other.max : std::max(max, other.max);
  if (is_first) {
    exact_ends = other.exact_ends;
    histogram = other.histogram;
  } else {
    histogram.add(other.histogram);
    if (exact_ends && other.exact_ends) {
      const auto is_less = [this](uint64_t a, uint64_t b) {
        return exact_ends->is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
      };
      exact_ends->min = std::min(exact_ends->min, other.exact_ends->min, is_less);
      exact_ends->max = std::max(exact_ends->max, other.exact_ends->max, is_less);
    }
  }
  moments.add(other.moments);
}

Statistics statistics_of(const Rope& payload, const DataType* type, uint64_t elements, Workers& workers) {
  const NumberDecoder decoder(type);
  const uint64_t numbers = decoder.numbers(elements, payload.size());
  const Shares shares(numbers, decoder.bits());
  std::vector<Statistics> results(shares.count());
  workers.run(shares.count(), [&](size_t share, Scratch& scratch) {
    Collector collector(decoder,
                        reinterpret_cast<double*>(scratch.bytes(0, 2 * NumberDecoder::block * sizeof(double))));
    const ByteRange range = shares[share];
    const uint64_t at_once = std::min(numbers_read_at_once(decoder.bits()), range.size());
    std::byte* buffer = scratch.bytes(1, decoder.bytes_of(at_once));
    for (uint64_t at = range.begin; at != range.end;) {
      const uint64_t count = std::min(at_once, range.end - at);
      const std::span bytes(buffer, decoder.bytes_of(count));
      payload.read(decoder.bytes_of(at), bytes);
      collector.add(bytes.data(), count);
      at += count;
      workers.advance(bytes.size());
    }
    results[share] = collector.take();
  });
  Statistics all;
  for (const Statistics& result : results) all.add(result);
  return all;
}

StringStatistics string_statistics_of(const Rope& payload, Workers& workers) {
  StringStatistics result;
  StringCursor cursor(payload);
  uint64_t at = 0;
  for (uint64_t length; cursor.next(length); cursor.skip(length)) {
    result.shortest = result.strings == 0 ? length : std::min(result.shortest, length);
    result.longest = std::max(result.longest, length);
    result.bytes += length;
    result.empty += length == 0;
    ++result.strings;
    workers.advance(cursor.offset() - at);
    at = cursor.offset();
  }
  return result;
}

}  // namespace onnxfs
