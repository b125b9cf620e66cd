#include "core/wire/window.h"

#include <algorithm>

namespace onnxfs::wire {

Window::Window(SourcePtr source)
    : source_(std::move(source)), buffer_(std::make_unique_for_overwrite<std::byte[]>(largest)) {}

std::span<const std::byte> Window::at(uint64_t offset, size_t most) {
  if (offset < begin_ || offset - begin_ >= length_) fill(offset);
  const size_t skip = static_cast<size_t>(offset - begin_);
  return {buffer_.get() + skip, std::min(most, length_ - skip)};
}

void Window::copy(uint64_t offset, std::span<std::byte> out) {
  if (out.size() > smallest) return source_->read(offset, out);
  while (!out.empty()) {
    const auto bytes = at(offset, out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
    out = out.subspan(bytes.size());
    offset += bytes.size();
  }
}

std::string Window::text(ByteRange range) {
  std::string result(range.size(), '\0');
  copy(range.begin, std::as_writable_bytes(std::span(result)));
  return result;
}

void Window::fill(uint64_t offset) {
  const bool sequential = offset == begin_ + length_;
  next_ = sequential ? std::min(next_ * 2, largest) : smallest;
  length_ = 0;  // nothing is buffered if the read fails
  const size_t n = static_cast<size_t>(std::min<uint64_t>(next_, source_->size() - offset));
  source_->read(offset, {buffer_.get(), n});
  begin_ = offset;
  length_ = n;
}

}  // namespace onnxfs::wire
