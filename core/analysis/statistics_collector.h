#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/block_scan.h"
#include "core/analysis/number_decoder.h"
#include "core/analysis/statistics.h"
#include "core/bytes/workers.h"

namespace onnxfs {

// The statistics of a range of a payload, from its bytes. Types of at most 8 bits have so few values that counting
// bytes is all there is to do. One thread.
class StatisticsCollector {
 public:
  // The first two slots of `scratch` are its own as long as it is used.
  StatisticsCollector(const NumberDecoder& decoder, Scratch& scratch);

  // Whole blocks, but for the last call; aligned as the payload's numbers.
  void add(const std::byte* bytes, uint64_t numbers);

  // Once, after all was added.
  Statistics take();

 private:
  static constexpr size_t codes = 256, tables = 4;

  void count_bytes(const std::byte* bytes, uint64_t count);
  void add_counted();
  void add_times(double value, uint64_t times);

  void add_block(const std::byte* bytes, size_t count);
  template <typename T>
  bool add_ordinary(const T* values, size_t count);
  template <typename T>
  void add_scanned(const T* values, size_t count, const BlockScan& scanned);
  double least() const;
  size_t keep_finite(double* values, size_t count);
  void add_ends(double low, double high);

  const NumberDecoder& decoder_;
  const bool counts_codes_;
  double* const values_;         // a block, and its low parts
  std::vector<uint64_t> bytes_;  // how often each byte was seen, in several tables
  Statistics result_;
};

}  // namespace onnxfs
