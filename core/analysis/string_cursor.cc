#include "core/analysis/string_cursor.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/data_type.h"

namespace onnxfs {

namespace {

constexpr uint64_t piece = 64 * 1024;

}  // namespace

StringCursor::StringCursor(Rope payload)
    : payload_(std::move(payload)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(std::min(piece, payload_.size()))) {}

void StringCursor::fill(uint64_t least) {
  if (at_ >= begin_ && at_ + least <= end_) return;
  begin_ = at_;
  end_ = at_ + std::min(piece, payload_.size() - at_);
  payload_.read(begin_, {buffer_.get(), end_ - begin_});
}

bool StringCursor::next(uint64_t& length) {
  const uint64_t left = payload_.size() - at_;
  if (left == 0) return false;
  length = 0;
  if (left >= string_length_prefix) {
    fill(string_length_prefix);
    for (unsigned i = 0; i < string_length_prefix; ++i) {
      length |= std::to_integer<uint64_t>(buffer_[at_ - begin_ + i]) << (8 * i);
    }
  }
  if (left < string_length_prefix || length > left - string_length_prefix) {
    fail(EIO, "the strings end inside of one, at offset {} of the payload", at_);
  }
  at_ += string_length_prefix;
  return true;
}

std::span<const std::byte> StringCursor::read(uint64_t most) {
  fill(1);
  const std::span<const std::byte> bytes(buffer_.get() + (at_ - begin_), std::min(most, end_ - at_));
  at_ += bytes.size();
  return bytes;
}

}  // namespace onnxfs
