#pragma once

#include <sys/uio.h>

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
class Rope {
 public:
  Rope() = default;  // empty
  // Extents of length zero are dropped. EOVERFLOW when the sum does not fit in a file's size (63 bits).
  explicit Rope(std::vector<Extent> extents);
  static Rope of(std::string bytes);
  static Rope of(SourcePtr source);  // all of it

  uint64_t size() const noexcept { return size_; }
  std::span<const Extent> extents() const noexcept;

  // Both want [offset, offset + length) within [0, size()).
  void read(uint64_t offset, std::span<std::byte> out) const;
  BorrowedBytes borrow(uint64_t offset, size_t length) const;

  // Throws ESTALE if reading some part of it would.
  void require_current() const;

  // All of it as one string: for documents and tests, not for payloads.
  std::string text() const;

 private:
  struct Layout {
    std::vector<Extent> extents;
    std::vector<uint64_t> ends;  // where each extent ends in the rope
  };

  // Calls use(extent, offset in its source, length) for each piece of [offset, offset + length), in order.
  template <typename Use>
  void visit(uint64_t offset, uint64_t length, Use use) const;

  std::shared_ptr<const Layout> layout_;  // null when empty
  uint64_t size_ = 0;
};

}  // namespace onnxfs
