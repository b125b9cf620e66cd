#include "core/onnx/tensor_notes.h"

#include "core/onnx/external_reference.h"
#include "core/onnx/tensor_fields.h"

namespace onnxfs {

TensorNotes read_notes(const Model& model, const Tensor& tensor) {
  if (!tensor.annotated) return {};  // as is all that is no TensorProto
  wire::Window window(model.file());
  TensorFields fields;
  for (const ByteRange piece : model.catalog().pieces(tensor)) fields.scan(window, piece);
  TensorNotes result;
  if (fields.doc_string) result.doc_string = window.text(*fields.doc_string);
  if (fields.external && tensor.in_one_piece) result.checksum = parse_external(window, fields.external_data).checksum;
  return result;
}

}  // namespace onnxfs
