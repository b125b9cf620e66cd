#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace onnxfs {

// What an annotate record says of a tensor; what is not set stays as it was. A plain value.
//
// Its bytes, little-endian: 4 bytes of flags (1: has a shape, 2: has documentation), 4 bytes of how many dimensions,
// 8 bytes for each of them, and the documentation up to the end.
struct Annotation {
  std::optional<std::vector<int64_t>> dims;
  std::optional<std::string> doc_string;

  std::string encode() const;
  // Nothing when the bytes are no annotation.
  static std::optional<Annotation> decode(std::span<const std::byte> bytes);
};

}  // namespace onnxfs
