#include "core/bytes/patch.h"

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

// Steps through the extents of a rope, by lengths that another rope gives.
class Cursor {
 public:
  explicit Cursor(const Rope& rope) : extents_(rope.extents()) {}

  bool done() const noexcept { return at_ == extents_.size(); }
  uint64_t left() const noexcept { return extents_[at_].length - within_; }
  const Source* source() const noexcept { return extents_[at_].source.get(); }
  uint64_t offset() const noexcept { return extents_[at_].offset + within_; }

  void advance(uint64_t length) noexcept {
    within_ += length;
    if (within_ < extents_[at_].length) return;
    ++at_;
    within_ = 0;
  }

 private:
  std::vector<Extent> extents_;
  size_t at_ = 0;
  uint64_t within_ = 0;
};

}  // namespace

void sort_patches(std::vector<Patch>& patches) {
  std::ranges::stable_sort(patches, {},
                           [](const Patch& patch) { return std::tuple(patch.range.begin, patch.range.end); });
  for (size_t i = 1; i < patches.size(); ++i) {
    if (patches[i].range.begin >= patches[i - 1].range.end) continue;
    fail(EINVAL, "two edits overlap at offset {}: their tensors share some of their bytes", patches[i].range.begin);
  }
}

Rope patched(const SourcePtr& source, const std::vector<Patch>& patches) {
  std::vector<Extent> extents;
  extents.reserve(2 * patches.size() + 1);
  uint64_t at = 0;
  for (const Patch& patch : patches) {
    extents.push_back({source, at, patch.range.begin - at});
    patch.content.collect(0, patch.content.size(), extents);
    at = patch.range.end;
  }
  extents.push_back({source, at, source->size() - at});
  return Rope(std::move(extents));
}

std::vector<ByteRange> changed_ranges(const Rope& original, const Rope& edited) {
  std::vector<ByteRange> ranges;
  Cursor before(original), after(edited);
  for (uint64_t at = 0; !before.done() && !after.done();) {
    const uint64_t length = std::min(before.left(), after.left());
    const bool same = before.source() == after.source() && before.offset() == after.offset();
    if (!same && !ranges.empty() && ranges.back().end == at) ranges.back().end += length;
    else if (!same) ranges.push_back({at, at + length});
    before.advance(length);
    after.advance(length);
    at += length;
  }
  return ranges;
}

}  // namespace onnxfs
