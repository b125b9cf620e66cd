#include "core/views/padding.h"

namespace onnxfs {

Rope with_clear_padding(const Tensor& tensor, Rope payload) {
  const DataType* type = tensor.type();
  if (type == nullptr || type->bits >= 8 || payload.empty()) return payload;
  const uint64_t used = tensor.elements % 8 * type->bits % 8;
  if (used == 0) return payload;
  std::byte last{};
  payload.read(payload.size() - 1, {&last, 1});
  const std::byte clear = last & static_cast<std::byte>((1U << used) - 1);
  if (clear == last) return payload;
  return payload.spliced(payload.size() - 1, 1, Rope::of(std::string(1, static_cast<char>(clear))));
}

}  // namespace onnxfs
