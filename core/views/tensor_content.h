#pragma once

#include <string>
#include <vector>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"

namespace onnxfs {

// A tensor with its edits, which is what each view of it is made from. A plain value; the views of `tensor` point into
// its model, and nothing that a view is made of does.
//
// The sizes of views follow from all but the payload, strings apart: who asks for no more than those may leave the
// payload empty.
struct TensorContent {
  Tensor tensor;              // as the file has it
  std::vector<int64_t> dims;  // the current ones
  std::string doc_string;     // likewise
  Rope payload;               // likewise
};

// Of a tensor that is not broken, with its edit (null: none) and its current payload. Reads the documentation, if there
// is any. Throws Error as reading the model's file does.
TensorContent tensor_content(const Model& model, uint32_t tensor, const TensorEdit* edit, Rope payload);

// The number and the shape of a tensor's elements as the formats outside of ONNX can say it: a tensor of an unknown
// type is a row of bytes.
uint64_t stored_elements(const Tensor& tensor);
std::vector<int64_t> stored_dims(const Tensor& tensor, std::span<const int64_t> dims);

}  // namespace onnxfs
