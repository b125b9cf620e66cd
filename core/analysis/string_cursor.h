#pragma once

#include <memory>
#include <span>

#include "core/bytes/rope.h"

namespace onnxfs {

// Goes through a payload of strings (see string_length_prefix), front to back, through a buffer. One thread.
class StringCursor {
 public:
  explicit StringCursor(Rope payload);

  // The length of the next string, of which nothing is read yet; false at the end. Throws Error(EIO) where the payload
  // ends inside of it.
  bool next(uint64_t& length);

  // The next bytes of the string, at least one and at most `most`; valid until the next call. `most` is not 0, and not
  // more than what is left of the string.
  std::span<const std::byte> read(uint64_t most);
  void skip(uint64_t bytes) noexcept { at_ += bytes; }  // of the string

  uint64_t offset() const noexcept { return at_; }  // in the payload

 private:
  void fill(uint64_t least);

  Rope payload_;
  std::unique_ptr<std::byte[]> buffer_;
  uint64_t at_ = 0;
  uint64_t begin_ = 0, end_ = 0;  // of what is in the buffer
};

}  // namespace onnxfs
