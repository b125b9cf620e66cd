#pragma once

#include <atomic>
#include <cstdint>

#include "core/bytes/rope.h"

namespace onnxfs {

// How large a log has to be for a compaction to be worth a thought, so that asking whether it is costs nothing. What is
// needed of the log is counted only then; in between, it is known how much less of it may be needed. Any number of
// threads.
class GarbageWatch {
 public:
  // A compaction is worth its copying when there is as much garbage as there are needed bytes, and `least` of it.
  explicit GarbageWatch(uint64_t least) : least_(least) {}

  uint64_t worthwhile_size(uint64_t needed) const noexcept;

  bool may_be_worthwhile(uint64_t size) const noexcept;

  // At most so many bytes, of a log of `size`, are not needed any more.
  void note_less_needed(uint64_t bytes, uint64_t size) noexcept;

  // To be asked before the needed bytes are counted, and given back with their number: what was noted since then still
  // counts.
  uint64_t noted() const noexcept { return noted_.load(std::memory_order_relaxed); }
  void set_needed(uint64_t needed, uint64_t noted) noexcept;

  // Not before there are `least` bytes more than `size`: after a failure.
  void wait_from(uint64_t size) noexcept { set(size + least_, noted()); }

 private:
  void set(uint64_t worthwhile, uint64_t noted) noexcept;

  const uint64_t least_;
  std::atomic<uint64_t> noted_ = 0;            // how many bytes less may be needed, all told
  std::atomic<uint64_t> worthwhile_plus_ = 0;  // the size that makes it worthwhile, and twice what was noted by then
};

// How many bytes less may be needed when a part of a content is taken away or, with the headers alone, overwritten:
// each of its extents may have been a record of its own.
uint64_t headers_in(const Rope& content, uint64_t offset, uint64_t length);

}  // namespace onnxfs
