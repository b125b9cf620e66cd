#include "core/views/tensor_content.h"

#include "core/onnx/tensor_notes.h"

namespace onnxfs {

TensorContent tensor_content(const Model& model, uint32_t index, const TensorEdit* edit, Rope payload) {
  TensorContent content;
  content.tensor = model.catalog().tensors()[index];
  content.payload = std::move(payload);
  if (edit != nullptr && edit->dims) content.dims = *edit->dims;
  else content.dims.assign(content.tensor.dims.begin(), content.tensor.dims.end());
  if (edit != nullptr && edit->doc_string) content.doc_string = *edit->doc_string;
  else content.doc_string = read_notes(model, content.tensor).doc_string;
  return content;
}

uint64_t stored_elements(const Tensor& tensor) { return tensor.type() == nullptr ? tensor.nbytes : tensor.elements; }

std::vector<int64_t> stored_dims(const Tensor& tensor, std::span<const int64_t> dims) {
  if (tensor.type() == nullptr) return {static_cast<int64_t>(tensor.nbytes)};
  return {dims.begin(), dims.end()};
}

}  // namespace onnxfs
