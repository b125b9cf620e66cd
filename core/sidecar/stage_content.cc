#include "core/sidecar/stage_content.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/bytes/error.h"
#include "core/bytes/range.h"

namespace onnxfs {

namespace {

constexpr uint64_t largest_size = std::numeric_limits<int64_t>::max();

class Zeros final : public Source {
 public:
  uint64_t size() const noexcept override { return largest_size; }
  void read(uint64_t, std::span<std::byte> out) const override { std::ranges::fill(out, std::byte{0}); }
};

const SourcePtr& zeros() {
  static const SourcePtr source = std::make_shared<Zeros>();
  return source;
}

}  // namespace

bool is_zeros(const Extent& extent) { return extent.source == zeros(); }

bool has_room(uint64_t offset, uint64_t length) { return fits(offset, length, largest_size); }

void require_room(uint64_t offset, uint64_t length) {
  if (!has_room(offset, length)) fail(EFBIG, "no file has {} bytes at {}", length, offset);
}

Rope with_written(const Rope& content, uint64_t offset, const Rope& piece) {
  require_room(offset, piece.size());
  const Rope padded = offset > content.size() ? with_size(content, offset) : content;
  return padded.spliced(offset, std::min(piece.size(), padded.size() - offset), piece);
}

Rope with_size(const Rope& content, uint64_t size) {
  require_room(0, size);
  if (size <= content.size()) return content.slice(0, size);
  return content.spliced(content.size(), 0, Rope({Extent{zeros(), 0, size - content.size()}}));
}

}  // namespace onnxfs
