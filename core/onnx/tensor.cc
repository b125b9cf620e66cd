#include "core/onnx/tensor.h"

namespace onnxfs {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::initializer: return "initializer";
    case Kind::sparse_values: return "sparse_values";
    case Kind::sparse_indices: return "sparse_indices";
    case Kind::attribute: return "attribute";
    case Kind::delayed: return "delayed";
    case Kind::value: return "value";
  }
  return "";
}

std::string_view storage_name(const Tensor& tensor) {
  switch (tensor.storage) {
    case Storage::none: return "none";
    case Storage::raw_data: return "raw_data";
    case Storage::typed: return name_of(tensor.type()->typed_field);
    case Storage::external: return "external";
    case Storage::attribute: return "attribute";
    case Storage::keys: return "keys";
    case Storage::delayed: return "delayed";
  }
  return "";
}

}  // namespace onnxfs
