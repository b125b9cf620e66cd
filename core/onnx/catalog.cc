#include "core/onnx/catalog.h"

#include <algorithm>

namespace onnxfs {

std::span<const ByteRange> Catalog::pieces(const Tensor& tensor) const noexcept {
  if (tensor.scattered != Tensor::no_index) return scattered_[tensor.scattered];
  return {&tensor.message, 1};
}

const std::span<const int64_t>* Catalog::dense_shape(uint32_t tensor) const noexcept {
  const auto after = std::ranges::upper_bound(dense_shapes_, tensor, {}, &DenseShape::first);
  if (after == dense_shapes_.begin()) return nullptr;
  const DenseShape& shape = *std::prev(after);
  return tensor - shape.first < 2 ? &shape.dims : nullptr;
}

}  // namespace onnxfs
