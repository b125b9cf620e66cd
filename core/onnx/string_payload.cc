#include "core/onnx/string_payload.h"

#include <algorithm>
#include <memory>

#include "core/onnx/data_type.h"

namespace onnxfs {

std::optional<uint64_t> count_strings(const Rope& payload) {
  constexpr uint64_t piece = 64 * 1024;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(std::min(piece, payload.size()));
  uint64_t begin = 0, end = 0;  // of what is in the buffer
  uint64_t count = 0;
  for (uint64_t at = 0; at != payload.size(); ++count) {
    if (payload.size() - at < string_length_prefix) return std::nullopt;
    if (at < begin || at + string_length_prefix > end) {
      begin = at;
      end = at + std::min(piece, payload.size() - at);
      payload.read(begin, {buffer.get(), end - begin});
    }
    uint64_t length = 0;
    for (unsigned i = 0; i < string_length_prefix; ++i) {
      length |= std::to_integer<uint64_t>(buffer[at - begin + i]) << (8 * i);
    }
    at += string_length_prefix;
    if (length > payload.size() - at) return std::nullopt;
    at += length;
  }
  return count;
}

}  // namespace onnxfs
