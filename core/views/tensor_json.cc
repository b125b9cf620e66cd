#include "core/views/tensor_json.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "core/bytes/utf8.h"
#include "core/onnx/tensor_notes.h"
#include "core/views/json_lines.h"

namespace onnxfs {

namespace {

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // EVP_EncodeBlock ends it with a NUL
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

void add_type(JsonLines& json, const Tensor& tensor) {
  const DataType* type = tensor.type();
  if (type == nullptr) {
    json.add_null("dtype");
    tensor.data_type == undefined_type ? json.add_text("onnx_type", "UNDEFINED") : json.add_null("onnx_type");
    json.add_null("bits");
  } else {
    json.add_text("dtype", type->name).add_text("onnx_type", type->onnx_name);
    type->bits == 0 ? json.add_null("bits") : json.add_number("bits", type->bits);
  }
}

void add_place(JsonLines& json, const Model& model, const Tensor& tensor, const TensorEdit* edit, bool sound) {
  json.add_text("storage", storage_word(tensor, edit));
  if (sound && has_place(tensor, edit)) {
    json.add_text("file", model.file_name_of(tensor));
    json.add_number("offset", tensor.data.begin).add_number("length", tensor.data.size());
  } else {
    json.add_null("file").add_null("offset").add_null("length");
  }
}

}  // namespace

std::string tensor_json(const Model& model, uint32_t index, const TensorEdit* edit) {
  const Catalog& catalog = model.catalog();
  const Tensor& tensor = catalog.tensors()[index];
  const DataType* type = tensor.type();
  const std::string problem = model.problem(index);
  const TensorNotes notes = read_notes(model, tensor);

  JsonLines json;
  json.add_text("name", tensor.name).add_text("kind", name_of(tensor.kind));
  json.add_text("scope", scope_of(catalog.sections(), tensor.section));
  add_type(json, tensor);
  json.add("shape", shape_json(tensor, edit));
  tensor.elements_known ? json.add_number("elements", tensor.elements) : json.add_null("elements");
  json.add_number("nbytes", payload_size(tensor, edit));
  const std::string_view numpy = type == nullptr ? "|u1" : type->numpy;
  numpy.empty() ? json.add_null("numpy") : json.add_text("numpy", numpy);
  add_place(json, model, tensor, edit, problem.empty());
  json.add_text("doc_string", edit != nullptr && edit->doc_string ? *edit->doc_string : notes.doc_string);
  json.add_flag("edited", edit != nullptr);
  problem.empty() ? json.add_null("problem") : json.add_text("problem", problem);
  if (type == nullptr) json.add("data_type", fmt::to_string(tensor.data_type));
  if (!is_utf8(tensor.name)) json.add_text("name_base64", base64(tensor.name));
  if (!notes.checksum.empty()) json.add_text("checksum", notes.checksum);
  if (const auto holder = node_attribute_of(catalog.sections(), tensor.section, tensor.leaf)) {
    json.add_text("node", holder->node).add_text("attribute", holder->attribute);
  }
  if (const auto* dims = catalog.dense_shape(index)) json.add("dense_shape", dims_json(*dims));
  return std::move(json).take();
}

std::string shape_json(const Tensor& tensor, const TensorEdit* edit) {
  return dims_json(edit != nullptr && edit->dims ? std::span<const int64_t>(*edit->dims) : tensor.dims);
}

uint64_t payload_size(const Tensor& tensor, const TensorEdit* edit) {
  return edit != nullptr && edit->payload ? edit->payload->size() : tensor.nbytes;
}

std::string_view storage_word(const Tensor& tensor, const TensorEdit* edit) {
  return edit != nullptr && edit->payload ? "sidecar" : storage_name(tensor);
}

bool has_place(const Tensor& tensor, const TensorEdit* edit) {
  return tensor.in_one_piece && (edit == nullptr || !edit->payload);
}

std::string_view dtype_word(const Tensor& tensor) {
  const DataType* type = tensor.type();
  return type == nullptr ? "null" : type->name;
}

}  // namespace onnxfs
