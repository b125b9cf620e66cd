#include "core/views/model_json.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>
#include <vector>

#include "core/onnx/metadata.h"
#include "core/views/json_lines.h"

namespace onnxfs {

namespace {

using Json = nlohmann::ordered_json;

Json dtype_json(int32_t number) {
  const DataType* type = find_data_type(number);
  return type == nullptr ? Json(nullptr) : Json(type->name);
}

template <typename TensorType>
Json tensor_type_json(const char* word, const TensorType& type) {
  Json json{{"type", word}, {"dtype", dtype_json(type.elem_type())}, {"shape", nullptr}};
  if (!type.has_shape()) return json;
  Json dims = Json::array();
  for (const auto& dim : type.shape().dim()) {
    if (dim.has_dim_value()) dims.push_back(dim.dim_value());
    else if (dim.has_dim_param()) dims.push_back(dim.dim_param());
    else dims.push_back(nullptr);
  }
  json["shape"] = std::move(dims);
  return json;
}

// Recursive, to the depth that protobuf's parser allows (100).
Json type_members(const proto::TypeProto& type) {
  using Case = proto::TypeProto::ValueCase;
  switch (type.value_case()) {
    case Case::kTensorType: return tensor_type_json("tensor", type.tensor_type());
    case Case::kSparseTensorType: return tensor_type_json("sparse_tensor", type.sparse_tensor_type());
    case Case::kSequenceType: return {{"type", "sequence"}, {"elem", type_members(type.sequence_type().elem_type())}};
    case Case::kOptionalType: return {{"type", "optional"}, {"elem", type_members(type.optional_type().elem_type())}};
    case Case::kMapType:
      return {{"type", "map"},
              {"key", dtype_json(type.map_type().key_type())},
              {"value", type_members(type.map_type().value_type())}};
    case Case::kOpaqueType:
      return {{"type", "opaque"}, {"domain", type.opaque_type().domain()}, {"opaque", type.opaque_type().name()}};
    case Case::VALUE_NOT_SET: break;
  }
  return {{"type", nullptr}};
}

template <typename ValueInfos>
Json value_infos_json(const ValueInfos& values) {
  Json list = Json::array();
  for (const proto::ValueInfoProto& value : values) {
    Json json{{"name", value.name()}};
    json.update(type_members(value.type()));
    list.push_back(std::move(json));
  }
  return list;
}

// An object of strings as JSON, in the order of the file. The format says that keys are unique; of one that is not, the
// values are a list.
template <typename Entries>
std::string properties_json(const Entries& entries) {
  std::unordered_map<std::string_view, size_t> places;  // a JSON object of this library's looks through all its keys
  std::vector<std::pair<std::string_view, Json>> properties;
  for (const proto::StringStringEntryProto& entry : entries) {
    const auto [place, is_new] = places.try_emplace(entry.key(), properties.size());
    if (is_new) {
      properties.emplace_back(entry.key(), entry.value());
      continue;
    }
    Json& value = properties[place->second].second;
    if (!value.is_array()) value = Json::array({std::move(value)});
    value.push_back(entry.value());
  }
  std::string text = "{";
  for (const auto& [key, value] : properties) {
    text += fmt::format("{}{}:{}", text.size() == 1 ? "" : ",", json_quote(key), json_inline(value));
  }
  return text + "}";
}

Json opsets_json(const proto::ModelProto& model) {
  Json list = Json::array();
  for (const auto& opset : model.opset_import()) {
    list.push_back({{"domain", opset.domain()}, {"version", opset.version()}});
  }
  return list;
}

Json counts_json(const Counts& counts, const proto::GraphProto& graph) {
  return {{"nodes", counts.nodes},
          {"initializers", counts.initializers},
          {"sparse_initializers", counts.sparse_initializers},
          {"inputs", graph.input_size()},
          {"outputs", graph.output_size()},
          {"value_infos", counts.value_infos},
          {"functions", counts.functions},
          {"training_infos", counts.training_infos}};
}

std::string values_json(const Model& model) {
  JsonLines json;
  json.add_text("file", model.name()).add_number("size", model.file()->size());
  json.add_text("message", name_of(model.root()));
  json.add("counts", json_inline({{"tensors", model.catalog().tensors().size()}}));
  return std::move(json).take();
}

}  // namespace

std::string type_json(const proto::TypeProto& type) { return json_inline(type_members(type)); }

std::string model_json(const Model& model) {
  if (model.catalog().root() != Root::model) return values_json(model);
  const proto::ModelProto proto = read_metadata(model);
  const proto::GraphProto& graph = proto.graph();
  JsonLines json;
  json.add_text("file", model.name()).add_number("size", model.file()->size());
  json.add_flag("protobuf_2gb", model.file()->size() > std::numeric_limits<int32_t>::max());
  json.add("ir_version", fmt::to_string(proto.ir_version()));
  json.add_text("producer_name", proto.producer_name()).add_text("producer_version", proto.producer_version());
  json.add_text("domain", proto.domain()).add("model_version", fmt::to_string(proto.model_version()));
  json.add_text("doc_string", proto.doc_string());
  json.add("opset_import", json_inline(opsets_json(proto)));
  json.add("metadata_props", properties_json(proto.metadata_props()));
  json.add_text("graph_name", graph.name()).add_text("graph_doc_string", graph.doc_string());
  json.add("graph_metadata_props", properties_json(graph.metadata_props()));
  json.add("inputs", json_inline(value_infos_json(graph.input())));
  json.add("outputs", json_inline(value_infos_json(graph.output())));
  json.add("counts", json_inline(counts_json(model.catalog().counts(), graph)));
  return std::move(json).take();
}

}  // namespace onnxfs
