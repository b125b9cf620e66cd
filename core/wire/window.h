#pragma once

#include <memory>

#include "core/bytes/range.h"
#include "core/bytes/source.h"

namespace onnxfs::wire {

// A small buffer that moves over a source, so that scanning reads headers and skips payloads: it begins small after
// each jump and doubles while the reading is sequential. One thread at a time.
class Window {
 public:
  explicit Window(SourcePtr source);

  // At least one and at most `most` bytes at `offset`, in the buffer until the next call. `offset` < size().
  std::span<const std::byte> at(uint64_t offset, size_t most);

  // Bytes that are known to lie in the source, however many. `text` is for names and metadata.
  void copy(uint64_t offset, std::span<std::byte> out);
  std::string text(ByteRange range);

  const SourcePtr& source() const noexcept { return source_; }
  uint64_t size() const noexcept { return source_->size(); }

 private:
  static constexpr size_t smallest = 4096;
  static constexpr size_t largest = 64 * 1024;

  void fill(uint64_t offset);

  SourcePtr source_;
  std::unique_ptr<std::byte[]> buffer_;
  uint64_t begin_ = 0;      // of the buffered bytes, in the source
  size_t length_ = 0;       // how many there are
  size_t next_ = smallest;  // how many to fetch next
};

}  // namespace onnxfs::wire
