#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/bytes/source.h"

namespace onnxfs {

// A piece of a source. The whole of it lies within the source.
struct Extent {
  SourcePtr source;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// Bytes for the kernel to copy from, in order, and what keeps them alive. Never more pieces than one writev takes.
struct BorrowedBytes {
  std::vector<iovec> pieces;
  std::vector<std::shared_ptr<const void>> owners;
};

// An ordered list of extents: the content of every file in the mount. Immutable and cheap to copy, so that a read
// works on a snapshot while an edit puts another rope in its place. Any number of threads may use one at once.
//
// Holds its sources alive. Never copies bytes but in `read`, and in a `borrow` that touches very many extents.
// Errors are those of the sources.
//
// The list is kept in chunks that ropes share: an edit of a rope of n extents copies about √n of them, not all.
class Rope {
 public:
  Rope() = default;  // empty
  // Extents of length zero are dropped, and those that follow one another in a source become one. EOVERFLOW when the
  // sum does not fit in a file's size (63 bits).
  explicit Rope(std::vector<Extent> extents);
  static Rope of(std::string bytes);
  static Rope of(SourcePtr source);  // all of it

  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // All three want [offset, offset + length) within [0, size()).
  void read(uint64_t offset, std::span<std::byte> out) const;
  BorrowedBytes borrow(uint64_t offset, size_t length) const;
  Rope slice(uint64_t offset, uint64_t length) const;

  // This rope with [offset, offset + length) replaced by `piece`, of any size. EOVERFLOW as above.
  Rope spliced(uint64_t offset, uint64_t length, const Rope& piece) const;

  // Appends the extents of [offset, offset + length) to `out`: for one who puts a rope together from many.
  void collect(uint64_t offset, uint64_t length, std::vector<Extent>& out) const;
  std::vector<Extent> extents() const;  // all of them

  // Throws ESTALE if reading some part of it would.
  void require_current() const;

  // All of it as one string: for documents and tests, not for payloads.
  std::string text() const;

 private:
  struct Chunk {
    std::vector<Extent> extents;
    std::vector<uint64_t> ends;  // where each extent ends in the chunk
  };
  struct Layout {
    std::vector<std::shared_ptr<const Chunk>> chunks;
    std::vector<uint64_t> ends;  // where each chunk ends in the rope
  };

  static void append_chunks(std::vector<Extent> extents, Layout& layout);

  // Calls use(extent, offset in its source, length) for each piece of [offset, offset + length), in order.
  template <typename Use>
  void visit(uint64_t offset, uint64_t length, Use use) const;

  std::shared_ptr<const Layout> layout_;  // null when empty
  uint64_t size_ = 0;
};

// Calls use(offset, bytes) for [offset, offset + length) of a rope, in pieces that are read into one buffer of at most
// `largest` bytes.
template <typename Use>
void read_in_pieces(const Rope& rope, uint64_t offset, uint64_t length, uint64_t largest, Use use) {
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(std::min(largest, length));
  for (const uint64_t end = offset + length; offset < end;) {
    const std::span<std::byte> bytes(buffer.get(), std::min(largest, end - offset));
    rope.read(offset, bytes);
    use(offset, std::span<const std::byte>(bytes));
    offset += bytes.size();
  }
}

}  // namespace onnxfs
