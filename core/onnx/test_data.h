// The layout of ONNX's backend tests: NAME/model.onnx, and its values in NAME/test_data_set_N/{input,output}_K.pb.
#pragma once

#include <optional>
#include <string>

#include "core/onnx/root.h"

namespace onnxfs {

// Whether the value at `path` is a sequence or an optional, as the model that it is an input or output of says. Nothing
// when the path is not of that layout, there is no such model, or it says neither.
std::optional<Root> root_by_model_beside(const std::string& path);

}  // namespace onnxfs
