#pragma once

#include <string>

#include "core/onnx/model.h"

namespace onnxfs {

// What stands in a tensor's message and is not worth keeping in memory.
struct TensorNotes {
  std::string doc_string;
  std::string checksum;  // what external data claims of its file
};

// As the model's file has them. Throws Error as reading the file does.
TensorNotes read_notes(const Model& model, const Tensor& tensor);

}  // namespace onnxfs
