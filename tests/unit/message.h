// Protobuf messages written by hand, byte for byte, so that a test can write what no protobuf library would: fields in
// any order and more than once, overlong varints, groups, and bytes that are no message at all.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace onnxfs::testing {

// A varint of at least `size` bytes: longer than it has to be where the value needs fewer.
inline std::string varint_bytes(uint64_t value, size_t size = 1) {
  std::string bytes;
  while (value >= 0x80 || bytes.size() + 1 < size) {
    bytes += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes += static_cast<char>(value);
  return bytes;
}

inline std::string tag_bytes(uint64_t number, unsigned type) { return varint_bytes(number << 3 | type); }

// What stands before so many bytes of a string, message or packed run.
inline std::string header_bytes(uint64_t number, uint64_t size) {
  std::string bytes = tag_bytes(number, 2);
  bytes += varint_bytes(size);
  return bytes;
}

// The low `size` bytes of a number, least significant first.
inline std::string fixed_bytes(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

class Message {
 public:
  Message& varint(uint32_t number, uint64_t value) { return raw(tag_bytes(number, 0)).append(varint_bytes(value)); }
  Message& fixed64(uint32_t number, uint64_t value) { return raw(tag_bytes(number, 1)).append(fixed_bytes(value, 8)); }
  Message& fixed32(uint32_t number, uint32_t value) { return raw(tag_bytes(number, 5)).append(fixed_bytes(value, 4)); }
  Message& number(uint32_t field, float value) { return fixed32(field, std::bit_cast<uint32_t>(value)); }
  Message& bytes(uint32_t number, std::string_view value) {
    return raw(header_bytes(number, value.size())).append(value);
  }
  Message& message(uint32_t number, const Message& value) { return bytes(number, value.str()); }
  Message& packed(uint32_t number, const std::vector<uint64_t>& values) {
    std::string run;
    for (const uint64_t value : values) run += varint_bytes(value);
    return bytes(number, run);
  }
  Message& group(uint32_t number, const Message& fields) {
    return raw(tag_bytes(number, 3)).append(fields.str()).append(tag_bytes(number, 4));
  }

  // Bytes as they are, counted as one field.
  Message& raw(std::string_view bytes) {
    borders_.push_back(text_.size());
    return append(bytes);
  }

  // Bytes that go on with the last field.
  Message& append(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }

  const std::string& str() const { return text_; }
  size_t size() const { return text_.size(); }
  const std::vector<size_t>& borders() const { return borders_; }  // where each field begins

 private:
  std::string text_;
  std::vector<size_t> borders_;
};

}  // namespace onnxfs::testing
