#include "core/analysis/statistics.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "core/analysis/shares.h"
#include "core/analysis/statistics_collector.h"
#include "core/analysis/string_cursor.h"
#include "core/bytes/mutex.h"

namespace onnxfs {

namespace {

// A payload that is read in shares, each by whichever thread. Who reads the last puts them together, so that what each
// share came to is kept for no longer than its tensor is read.
class Reading {
 public:
  explicit Reading(const NumericPayload& subject)
      : payload_(subject.payload),
        decoder_(subject.type),
        shares_(decoder_.numbers(subject.elements, payload_.size()), decoder_.bits()),
        results_(shares_.count()),
        unread_(shares_.count()) {}

  size_t shares() const noexcept { return shares_.count(); }

  // After one has failed, the others are left out.
  void read(size_t share, Scratch& scratch, Workers& workers) {
    if (!failed_) try_to_read(share, scratch, workers);
    if (unread_.fetch_sub(1) == 1) put_together();
  }

  // Once, after all shares were read.
  std::variant<Statistics, Error> take() {
    const MutexLock lock(mutex_);
    if (error_) return *std::move(error_);
    return std::move(all_);
  }

 private:
  void try_to_read(size_t share, Scratch& scratch, Workers& workers) {
    try {
      results_[share] = statistics_of_range(shares_[share], scratch, workers);
    } catch (const Error& error) {
      const MutexLock lock(mutex_);
      failed_ = true;
      if (!error_) error_ = error;
    }
  }

  // In their order, whoever came last: sums of floats depend on it.
  void put_together() {
    for (const Statistics& result : results_) all_.add(result);
    results_ = {};
  }

  Statistics statistics_of_range(const ByteRange& range, Scratch& scratch, Workers& workers) const {
    StatisticsCollector collector(decoder_, scratch);
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
  Statistics all_;
  std::atomic<size_t> unread_;
  std::atomic<bool> failed_ = false;
  Mutex mutex_;
  std::optional<Error> error_ ONNXFS_GUARDED_BY(mutex_);
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
  results.reserve(readings.size());
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
