#include "core/sidecar/garbage.h"

#include <algorithm>
#include <vector>

#include "core/sidecar/record.h"

namespace onnxfs {

uint64_t GarbageWatch::worthwhile_size(uint64_t needed) const noexcept { return needed + std::max(needed, least_); }

// Each byte that is needed no more counts twice: it is garbage, and the rest asks for that much less of it.
bool GarbageWatch::may_be_worthwhile(uint64_t size) const noexcept {
  return size + 2 * noted() >= worthwhile_plus_.load(std::memory_order_relaxed);
}

void GarbageWatch::note_less_needed(uint64_t bytes, uint64_t size) noexcept {
  noted_.fetch_add(std::min(bytes, size), std::memory_order_relaxed);
}

void GarbageWatch::set_needed(uint64_t needed, uint64_t noted) noexcept { set(worthwhile_size(needed), noted); }

void GarbageWatch::set(uint64_t worthwhile, uint64_t noted) noexcept {
  worthwhile_plus_.store(worthwhile + 2 * noted, std::memory_order_relaxed);
}

uint64_t headers_in(const Rope& content, uint64_t offset, uint64_t length) {
  std::vector<Extent> extents;
  content.collect(offset, length, extents);
  return extents.size() * Record::header_size;
}

}  // namespace onnxfs
