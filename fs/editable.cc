#include "fs/editable.h"

#include <algorithm>

namespace onnxfs {

void copy(const Rope& content, Stage& stage) {
  constexpr uint64_t piece = 1 << 20;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(std::min(piece, content.size()));
  for (uint64_t at = 0; at < content.size(); at += piece) {
    const std::span<std::byte> bytes(buffer.get(), std::min(piece, content.size() - at));
    content.read(at, bytes);
    stage.write(at, bytes);
  }
}

}  // namespace onnxfs
