#pragma once

#include "core/onnx/typed_layout.h"

namespace onnxfs::testing {

// Of a tensor whose data are in the typed field of its type.
inline TypedLayout layout_of(Tensor tensor) {
  tensor.storage = Storage::typed;
  return typed_layout(tensor, {&tensor.message, 1});
}

}  // namespace onnxfs::testing
