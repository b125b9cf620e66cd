#include "core/wire/encoder.h"

namespace onnxfs::wire {

void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

void append_tag(std::string& bytes, uint32_t number, Type type) {
  append_varint(bytes, uint64_t{number} << 3 | static_cast<uint64_t>(type));
}

void append_header(std::string& bytes, uint32_t number, uint64_t length) {
  append_tag(bytes, number, Type::bytes);
  append_varint(bytes, length);
}

}  // namespace onnxfs::wire
