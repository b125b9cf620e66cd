#include "core/onnx/tensor.h"

namespace onnxfs {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::initializer: return "initializer";
  }
  return "";
}

std::string_view storage_name(const Tensor& tensor) {
  switch (tensor.storage) {
    case Storage::none: return "none";
    case Storage::raw_data: return "raw_data";
    case Storage::typed: return name_of(tensor.type()->typed_field);
    case Storage::external: return "external";
  }
  return "";
}

}  // namespace onnxfs
