#include "core/views/json_edit.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/bytes/error.h"
#include "core/views/tensor_json.h"

namespace onnxfs {

namespace {

using Json = nlohmann::json;

std::vector<int64_t> parse_shape(const Json& value, const Tensor& tensor) {
  std::vector<int64_t> dims;
  if (!value.is_array()) fail(EINVAL, "the shape is no list of numbers");
  for (const Json& dim : value) {
    if (!dim.is_number_integer() || (dim.is_number_unsigned() && dim.get<uint64_t>() > INT64_MAX)) {
      fail(EINVAL, "the shape is no list of numbers");
    }
    dims.push_back(dim.get<int64_t>());
  }
  if (element_count(dims) != tensor.elements) {
    fail(EINVAL, "a shape of {} has not the {} elements that the tensor has", value.dump(), tensor.elements);
  }
  return dims;
}

}  // namespace

bool can_be_annotated(const Tensor& tensor) {
  return tensor.storage != Storage::attribute && tensor.storage != Storage::keys && tensor.kind != Kind::delayed;
}

JsonEdit parse_json_edit(const Model& model, uint32_t index, const TensorEdit* edit, std::string_view text) {
  const Tensor& tensor = model.catalog().tensors()[index];
  const Json written = Json::parse(text, nullptr, false);
  if (!written.is_object()) fail(EINVAL, "what was written is no JSON object");
  const Json now = Json::parse(tensor_json(model, index, edit));
  const Json before = Json::parse(tensor_json(model, index));
  JsonEdit result;
  for (const auto& [key, value] : written.items()) {
    if (now.contains(key) && now[key] == value) continue;
    if (key == "shape") {
      result.dims = parse_shape(value, tensor);
    } else if (key == "doc_string") {
      if (!value.is_string()) fail(EINVAL, "the doc_string is no text");
      result.doc_string = value.get<std::string>();
    } else if (!before.contains(key) || before[key] != value) {
      fail(EINVAL, "{} cannot be changed, only doc_string and shape", key);
    }
  }
  if ((result.dims || result.doc_string) && !can_be_annotated(tensor)) {
    fail(EINVAL, "a tensor that stands in an attribute's or a map's own list has no shape or doc_string of its own");
  }
  return result;
}

}  // namespace onnxfs
