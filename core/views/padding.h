#pragma once

#include "core/bytes/rope.h"
#include "core/onnx/tensor.h"

namespace onnxfs {

// The payload with zeros in the bits of its last byte that packed elements leave unused, as the format wants them of
// whoever writes a tensor. Reads that byte, if there are such bits.
Rope with_clear_padding(const Tensor& tensor, Rope payload);

}  // namespace onnxfs
