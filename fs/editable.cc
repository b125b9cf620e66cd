#include "fs/editable.h"

namespace onnxfs {

void copy(const Rope& content, Stage& stage) {
  constexpr uint64_t piece = 1 << 20;
  read_in_pieces(content, 0, content.size(), piece,
                 [&stage](uint64_t at, std::span<const std::byte> bytes) { stage.write(at, bytes); });
}

}  // namespace onnxfs
