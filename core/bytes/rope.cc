#include "core/bytes/rope.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/bytes/error.h"
#include "core/bytes/range.h"

namespace onnxfs {

Rope::Rope(std::vector<Extent> extents) {
  std::erase_if(extents, [](const Extent& extent) { return extent.length == 0; });
  if (extents.empty()) return;
  constexpr uint64_t limit = std::numeric_limits<int64_t>::max();
  auto layout = std::make_shared<Layout>();
  layout->ends.reserve(extents.size());
  for (const Extent& extent : extents) {
    if (!fits(extent.offset, extent.length, extent.source->size()) || extent.length > limit - size_) {
      fail(EOVERFLOW, "an extent of {} bytes at {} does not fit", extent.length, extent.offset);
    }
    size_ += extent.length;
    layout->ends.push_back(size_);
  }
  layout->extents = std::move(extents);
  layout_ = std::move(layout);
}

Rope Rope::of(std::string bytes) { return of(std::make_shared<MemorySource>(std::move(bytes))); }

Rope Rope::of(SourcePtr source) {
  const uint64_t size = source->size();
  return Rope({Extent{std::move(source), 0, size}});
}

std::span<const Extent> Rope::extents() const noexcept {
  return layout_ ? std::span<const Extent>(layout_->extents) : std::span<const Extent>();
}

template <typename Use>
void Rope::visit(uint64_t offset, uint64_t length, Use use) const {
  if (length == 0) return;
  const auto& ends = layout_->ends;
  size_t i = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), offset) - ends.begin());
  for (; length != 0; ++i) {
    const Extent& extent = layout_->extents[i];
    const uint64_t skip = offset - (ends[i] - extent.length);
    const uint64_t n = std::min(length, extent.length - skip);
    use(extent, extent.offset + skip, n);
    offset += n;
    length -= n;
  }
}

void Rope::read(uint64_t offset, std::span<std::byte> out) const {
  visit(offset, out.size(), [&out](const Extent& extent, uint64_t at, uint64_t n) {
    extent.source->read(at, out.first(n));
    out = out.subspan(n);
  });
}

BorrowedBytes Rope::borrow(uint64_t offset, size_t length) const {
  constexpr size_t most_pieces = 256;  // well under IOV_MAX; past it, so small are the pieces, a copy is no dearer
  size_t count = 0;
  visit(offset, length, [&count](const Extent&, uint64_t, uint64_t) { ++count; });
  BorrowedBytes result;
  if (count > most_pieces) {
    std::shared_ptr<std::byte[]> copy = std::make_unique_for_overwrite<std::byte[]>(length);
    read(offset, {copy.get(), length});
    result.pieces.push_back({copy.get(), length});
    result.owners.push_back(std::move(copy));
    return result;
  }
  visit(offset, length, [&result](const Extent& extent, uint64_t at, uint64_t n) {
    Borrowed piece = extent.source->borrow(at, n);
    result.pieces.push_back({const_cast<std::byte*>(piece.data), piece.size});
    if (piece.owner) result.owners.push_back(std::move(piece.owner));
  });
  return result;
}

void Rope::require_current() const {
  const Source* last = nullptr;
  for (const Extent& extent : extents()) {
    if (extent.source.get() != last) extent.source->require_current();
    last = extent.source.get();
  }
}

std::string Rope::text() const {
  std::string result(size_, '\0');
  read(0, std::as_writable_bytes(std::span(result)));
  return result;
}

}  // namespace onnxfs
