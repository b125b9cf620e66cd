#include "core/views/list_encoding.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/wire/encoder.h"

namespace onnxfs {

namespace {

// A longer string is not copied.
constexpr uint64_t longest_copied = 1024;

uint64_t little_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- != 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  return value;
}

// Reads a payload from front to end.
class Elements {
 public:
  explicit Elements(const Rope& payload) : payload_(payload) {}

  uint64_t left() const noexcept { return payload_.size() - at_; }
  uint64_t offset() const noexcept { return at_; }
  void skip(uint64_t length) noexcept { at_ += length; }

  // The next bytes, of which there are as many: until the next call.
  std::span<const std::byte> take(size_t length) {
    if (at_ < begin_ || at_ + length > begin_ + length_) fill();
    const std::span bytes = std::span(buffer_).subspan(at_ - begin_, length);
    at_ += length;
    return bytes;
  }

 private:
  void fill() {
    length_ = std::min<uint64_t>(buffer_.size(), left());
    payload_.read(at_, std::span(buffer_).first(length_));
    begin_ = at_;
  }

  const Rope& payload_;
  uint64_t at_ = 0;
  uint64_t begin_ = 0;  // of what is buffered
  uint64_t length_ = 0;
  std::array<std::byte, 16 * 1024> buffer_;
};

class ListEncoder {
 public:
  ListEncoder(EntryField field, const Rope& payload) : field_(field), payload_(payload), elements_(payload) {}

  Rope floats() {
    constexpr size_t width = 4;
    while (elements_.left() >= width) {
      wire::append_tag(text_, field_.number, field_.unpacked);
      append(elements_.take(width));
    }
    return finish();
  }

  Rope integers(const DataType& type) {
    const size_t width = type.bits / 8;
    const unsigned unused = 64 - type.bits;
    const bool is_signed = type.name.starts_with("int");
    while (elements_.left() >= width) {
      uint64_t value = little_endian(elements_.take(width));
      if (is_signed) value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
      wire::append_tag(text_, field_.number, field_.unpacked);
      wire::append_varint(text_, value);
    }
    return finish();
  }

  Rope strings(uint64_t count) {
    uint64_t found = 0;
    for (; elements_.left() != 0; ++found) {
      const uint64_t at = elements_.offset();
      if (elements_.left() < string_length_prefix)
        fail(EINVAL, "the length of string {} at {} does not end", found, at);
      const uint64_t length = little_endian(elements_.take(string_length_prefix));
      if (length > elements_.left()) {
        fail(EINVAL, "string {} at {} has {} bytes, and {} are left", found, at, length, elements_.left());
      }
      add_string(length);
    }
    if (found != count) fail(EINVAL, "{} strings, where the shape needs {}", found, count);
    return finish();
  }

 private:
  void add_string(uint64_t length) {
    wire::append_header(text_, field_.number, length);
    if (length <= longest_copied) return append(elements_.take(length));
    flush();
    payload_.collect(elements_.offset(), length, extents_);
    elements_.skip(length);
  }

  void append(std::span<const std::byte> bytes) {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  void flush() {
    const uint64_t size = text_.size();
    extents_.push_back({std::make_shared<MemorySource>(std::move(text_)), 0, size});
    text_.clear();
  }

  Rope finish() {
    flush();
    return Rope(std::move(extents_));
  }

  EntryField field_;
  const Rope& payload_;
  Elements elements_;
  std::vector<Extent> extents_;
  std::string text_;  // what comes after them
};

}  // namespace

Rope encode_list(const Tensor& tensor, EntryField field, const Rope& payload) {
  ListEncoder encoder(field, payload);
  switch (field.unpacked) {
    case wire::Type::bytes: return encoder.strings(tensor.elements);
    case wire::Type::varint: return encoder.integers(*tensor.type());
    default: return encoder.floats();
  }
}

}  // namespace onnxfs
