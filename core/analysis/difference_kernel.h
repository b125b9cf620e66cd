#pragma once

#include "core/analysis/difference.h"
#include "core/analysis/number_decoder.h"
#include "core/bytes/workers.h"

namespace onnxfs {

// Compares numbers, block by block, and keeps the sum. One thread.
class DifferenceKernel {
 public:
  // Keeps its blocks in the first two slots of `scratch`, which outlives it.
  DifferenceKernel(const NumberDecoder& a, const NumberDecoder& b, bool same_type, const Tolerance& tolerance,
                   Scratch& scratch);

  // Whole blocks, but for the last call.
  void add(const std::byte* a, const std::byte* b, uint64_t numbers);
  void add_equal(const std::byte* both, uint64_t numbers);  // of one type, bytes that are equal

  const Difference& result() const noexcept { return result_; }

 private:
  void add_block(const std::byte* a, const std::byte* b, size_t count);
  void add_equal_block(const std::byte* both, size_t count);
  void add_scaled(size_t count);
  size_t keep_finite(const std::byte* a, const std::byte* b, size_t count);

  // A block of values, and the low parts of those that have them.
  struct Side {
    Side(const NumberDecoder& decodes, std::byte* room);

    const NumberDecoder& decoder;
    double* numbers;

    double* values() const noexcept { return numbers; }
    double* low() const noexcept { return numbers + NumberDecoder::block; }
    void decode(const std::byte* bytes, size_t count) const { decoder.decode(bytes, count, values(), low()); }
  };

  Side a_, b_;
  bool same_type_;
  bool has_low_;
  bool is_wide_;  // its numbers may have squares that a double cannot hold
  Tolerance tolerance_;
  Difference result_;
};

}  // namespace onnxfs
