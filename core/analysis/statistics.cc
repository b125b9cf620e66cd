#include "core/analysis/statistics.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>

#include "core/analysis/shares.h"
#include "core/analysis/string_cursor.h"
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

// The statistics of a share. Types of at most 8 bits have so few values that counting bytes is all there is to do.
class Collector {
 public:
  Collector(const NumberDecoder& decoder, Scratch& scratch)
      : decoder_(decoder),
        counts_codes_(8 % decoder.bits() == 0),
        values_(reinterpret_cast<double*>(scratch.bytes(0, 2 * NumberDecoder::block * sizeof(double)))) {
    if (decoder.is_integer()) result_.histogram = Histogram(0);
    auto* recent = new (scratch.bytes(1, sizeof(Histogram::Recent))) Histogram::Recent;
    recent->fill(0);
    result_.histogram.lend(*recent);
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
  double least() const {
    return decoder_.smallest_normal() != 0 ? decoder_.smallest_normal() : std::numeric_limits<double>::denorm_min();
  }

  void add_small(const double* values, size_t count, int64_t small) {
    const auto zeros = std::count(values, values + count, 0.0);
    result_.zeros += static_cast<uint64_t>(zeros);
    result_.subnormal += static_cast<uint64_t>(small - zeros);
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

// A payload that is read in shares, each by whichever thread.
class Reading {
 public:
  explicit Reading(const NumericPayload& subject)
      : payload_(subject.payload),
        decoder_(subject.type),
        shares_(decoder_.numbers(subject.elements, payload_.size()), decoder_.bits()),
        results_(shares_.count()) {}

  size_t shares() const noexcept { return shares_.count(); }

  // After one has failed, the others are left out.
  void read(size_t share, Scratch& scratch, Workers& workers) {
    if (failed_) return;
    try {
      results_[share] = statistics_of_range(shares_[share], scratch, workers);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex_);
      failed_ = true;
      if (!error_) error_ = error;
    }
  }

  std::variant<Statistics, Error> take() {
    if (error_) return *std::move(error_);
    Statistics all;
    for (const Statistics& result : results_) all.add(result);
    return all;
  }

 private:
  Statistics statistics_of_range(const ByteRange& range, Scratch& scratch, Workers& workers) const {
    Collector collector(decoder_, scratch);
    const uint64_t at_once = std::min(numbers_read_at_once(decoder_.bits()), range.size());
    std::byte* buffer = scratch.bytes(2, decoder_.bytes_of(at_once));
    for (uint64_t at = range.begin; at != range.end;) {
      const uint64_t count = std::min(at_once, range.end - at);
      const std::span bytes(buffer, decoder_.bytes_of(count));
      payload_.read(decoder_.bytes_of(at), bytes);
      collector.add(bytes.data(), count);
      at += count;
      workers.advance(bytes.size());
    }
    return collector.take();
  }

  const Rope& payload_;
  const NumberDecoder decoder_;
  const Shares shares_;
  std::vector<Statistics> results_;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::optional<Error> error_;
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

std::vector<std::variant<Statistics, Error>> statistics_of(std::span<const NumericPayload> payloads, Workers& workers) {
  std::deque<Reading> readings;
  for (const NumericPayload& payload : payloads) readings.emplace_back(payload);
  struct Task {
    Reading& reading;
    size_t share;
  };
  std::vector<Task> tasks;
  for (Reading& reading : readings) {
    for (size_t share = 0; share < reading.shares(); ++share) tasks.push_back({reading, share});
  }
  workers.run(tasks.size(),
              [&](size_t i, Scratch& scratch) { tasks[i].reading.read(tasks[i].share, scratch, workers); });
  std::vector<std::variant<Statistics, Error>> results;
  for (Reading& reading : readings) results.push_back(reading.take());
  return results;
}

Statistics statistics_of(const Rope& payload, const DataType* type, uint64_t elements, Workers& workers) {
  const NumericPayload only{payload, type, elements};
  auto result = std::move(statistics_of(std::span(&only, 1), workers).front());
  if (const Error* error = std::get_if<Error>(&result)) throw *error;
  return std::get<Statistics>(std::move(result));
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
