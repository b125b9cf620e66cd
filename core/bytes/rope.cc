#include "core/bytes/rope.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/bytes/error.h"
#include "core/bytes/range.h"

namespace onnxfs {

namespace {

constexpr uint64_t largest_size = std::numeric_limits<int64_t>::max();

// A chunk of more extents is split into chunks of half as many, so that one more extent does not split it again.
constexpr size_t largest_chunk = 256;

// Drops what is empty, and joins what follows one another in its source.
void normalise(std::vector<Extent>& extents) {
  size_t kept = 0;
  for (Extent& extent : extents) {
    if (extent.length == 0) continue;
    Extent* last = kept == 0 ? nullptr : &extents[kept - 1];
    if (last != nullptr && last->source == extent.source && last->offset + last->length == extent.offset) {
      last->length += extent.length;
      continue;
    }
    if (&extents[kept] != &extent) extents[kept] = std::move(extent);
    ++kept;
  }
  extents.resize(kept);
}

// The index of what holds the byte at `offset`.
size_t find_holder(const std::vector<uint64_t>& ends, uint64_t offset) {
  return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), offset) - ends.begin());
}

}  // namespace

Rope::Rope(std::vector<Extent> extents) {
  for (const Extent& extent : extents) {
    if (extent.length == 0) continue;
    if (!fits(extent.offset, extent.length, extent.source->size()) || extent.length > largest_size - size_) {
      fail(EOVERFLOW, "an extent of {} bytes at {} does not fit", extent.length, extent.offset);
    }
    size_ += extent.length;
  }
  if (size_ == 0) return;
  Layout layout;
  append_chunks(std::move(extents), layout);
  layout_ = std::make_shared<const Layout>(std::move(layout));
}

Rope Rope::of(std::string bytes) { return of(std::make_shared<MemorySource>(std::move(bytes))); }

Rope Rope::of(SourcePtr source) {
  const uint64_t size = source->size();
  return Rope({Extent{std::move(source), 0, size}});
}

void Rope::append_chunks(std::vector<Extent> extents, Layout& layout) {
  normalise(extents);
  const size_t most = extents.size() > largest_chunk ? largest_chunk / 2 : largest_chunk;
  uint64_t end = layout.ends.empty() ? 0 : layout.ends.back();
  for (size_t first = 0; first < extents.size(); first += most) {
    auto chunk = std::make_shared<Chunk>();
    const size_t count = std::min(most, extents.size() - first);
    chunk->extents.reserve(count);
    chunk->ends.reserve(count);
    uint64_t size = 0;
    for (size_t i = first; i < first + count; ++i) {
      chunk->ends.push_back(size += extents[i].length);
      chunk->extents.push_back(std::move(extents[i]));
    }
    layout.chunks.push_back(std::move(chunk));
    layout.ends.push_back(end += size);
  }
}

template <typename Use>
void Rope::visit(uint64_t offset, uint64_t length, Use use) const {
  if (length == 0) return;
  size_t at = find_holder(layout_->ends, offset);
  uint64_t within = offset - (at == 0 ? 0 : layout_->ends[at - 1]);
  for (; length != 0; ++at, within = 0) {
    const Chunk& chunk = *layout_->chunks[at];
    for (size_t i = find_holder(chunk.ends, within); i < chunk.extents.size() && length != 0; ++i) {
      const Extent& extent = chunk.extents[i];
      const uint64_t skip = within - (chunk.ends[i] - extent.length);
      const uint64_t n = std::min(length, extent.length - skip);
      use(extent, extent.offset + skip, n);
      within += n;
      length -= n;
    }
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

Rope Rope::slice(uint64_t offset, uint64_t length) const {
  if (offset == 0 && length == size_) return *this;
  std::vector<Extent> extents;
  collect(offset, length, extents);
  return Rope(std::move(extents));
}

Rope Rope::spliced(uint64_t offset, uint64_t length, const Rope& piece) const {
  if (piece.size_ > largest_size - (size_ - length)) fail(EOVERFLOW, "{} bytes more do not fit", piece.size_);
  Rope result;
  result.size_ = size_ - length + piece.size_;
  if (result.size_ == 0) return result;

  // Chunks that the change does not touch are shared; those that it does are made anew, with what is left of them.
  static const Layout nothing;
  const Layout& old = layout_ ? *layout_ : nothing;
  size_t first = find_holder(old.ends, offset);
  if (first == old.chunks.size() && first != 0) --first;  // an appended piece joins the last chunk
  const uint64_t from = first == 0 ? 0 : old.ends[first - 1];
  size_t last = first;  // the first chunk that is left alone after the change
  while (last < old.chunks.size() && (last == first || old.ends[last - 1] < offset + length)) ++last;
  const uint64_t to = last == 0 ? 0 : old.ends[last - 1];

  std::vector<Extent> changed;
  collect(from, offset - from, changed);
  piece.collect(0, piece.size_, changed);
  collect(offset + length, to - (offset + length), changed);

  Layout layout;
  layout.chunks.reserve(old.chunks.size() + 2);
  layout.ends.reserve(old.chunks.size() + 2);
  layout.chunks.assign(old.chunks.begin(), old.chunks.begin() + static_cast<ptrdiff_t>(first));
  layout.ends.assign(old.ends.begin(), old.ends.begin() + static_cast<ptrdiff_t>(first));
  append_chunks(std::move(changed), layout);
  layout.chunks.insert(layout.chunks.end(), old.chunks.begin() + static_cast<ptrdiff_t>(last), old.chunks.end());
  for (size_t i = last; i < old.ends.size(); ++i) layout.ends.push_back(old.ends[i] - length + piece.size_);
  result.layout_ = std::make_shared<const Layout>(std::move(layout));
  return result;
}

void Rope::collect(uint64_t offset, uint64_t length, std::vector<Extent>& out) const {
  visit(offset, length, [&out](const Extent& extent, uint64_t at, uint64_t n) {
    out.push_back({extent.source, at, n});
  });
}

std::vector<Extent> Rope::extents() const {
  std::vector<Extent> result;
  collect(0, size_, result);
  return result;
}

void Rope::require_current() const {
  const Source* last = nullptr;
  visit(0, size_, [&last](const Extent& extent, uint64_t, uint64_t) {
    if (extent.source.get() != last) extent.source->require_current();
    last = extent.source.get();
  });
}

std::string Rope::text() const {
  std::string result(size_, '\0');
  read(0, std::as_writable_bytes(std::span(result)));
  return result;
}

}  // namespace onnxfs
