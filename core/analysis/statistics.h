#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/analysis/histogram.h"
#include "core/analysis/moments.h"
#include "core/analysis/number_decoder.h"
#include "core/bytes/error.h"
#include "core/bytes/rope.h"
#include "core/bytes/workers.h"

namespace onnxfs {

// What the numbers of a tensor are like. Of a complex tensor, its real and imaginary parts together; BOOL is 0 and 1.
//
// NaN and infinities are counted, and left out of all else. Counts and ends are exact. Of mean, deviation and L2 see
// Moments; an integer of 64 bits counts there, and in the histogram, as the double nearest to it.
struct Statistics {
  uint64_t numbers = 0;
  uint64_t nan = 0;
  uint64_t infinite = 0;
  uint64_t zeros = 0;
  uint64_t subnormal = 0;

  // Of finite numbers, if there are any.
  double min = 0, max = 0;
  // The same of a type of 64-bit integers, in two's complement where that is signed.
  struct Ends {
    uint64_t min, max;
    bool is_signed;
  };
  std::optional<Ends> exact_ends;

  Moments moments;
  Histogram histogram;

  uint64_t finite() const noexcept { return numbers - nan - infinite; }
  void add(const Statistics& other);
};

// Of a payload that is not of strings; `elements` as its tensor has them. Reads it once, with all the workers. Throws
// Error as reading does.
Statistics statistics_of(const Rope& payload, const DataType* type, uint64_t elements, Workers& workers);

// The same of several payloads at once, so that no worker waits for the end of a small one: each has its statistics, or
// what reading it threw.
struct NumericPayload {
  Rope payload;
  const DataType* type;
  uint64_t elements;
};
std::vector<std::variant<Statistics, Error>> statistics_of(std::span<const NumericPayload> payloads, Workers& workers);

struct StringStatistics {
  uint64_t strings = 0;
  uint64_t bytes = 0;     // of all of them
  uint64_t shortest = 0;  // in bytes
  uint64_t longest = 0;
  uint64_t empty = 0;
};

// Throws Error(EIO) when the payload is not of strings.
StringStatistics string_statistics_of(const Rope& payload, Workers& workers);

}  // namespace onnxfs
