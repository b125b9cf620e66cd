// Files that users write over those of a mount.
#include <nlohmann/json.hpp>

#include "core/bytes/error.h"
#include "core/onnx/tensor_fields.h"
#include "core/views/json_edit.h"
#include "core/views/npy.h"
#include "core/views/npy_header.h"
#include "core/views/padding.h"
#include "core/views/tensor_json.h"
#include "tests/fuzz/model_check.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/workspace.h"
#include "tests/unit/models.h"
#include "tests/unit/typed_fields.h"

namespace onnxfs::fuzz {

namespace {

// A tensor of six elements of each type, but strings; and one of each other kind of place.
std::shared_ptr<const Model> model_of_all_types() {
  static const Workspace workspace;
  std::vector<testing::Message> tensors;
  for (int32_t type = 0; type <= 28; ++type) {
    if (type == testing::type::undefined || type == testing::type::string) continue;
    const uint64_t bytes = (6 * find_data_type(type)->bits + 7) / 8;
    tensors.push_back(
        testing::tensor(fmt::format("t{}", type), type, {2, 3}).bytes(9, std::string(bytes, '\1')).bytes(12, "doc"));
  }
  tensors.push_back(testing::tensor("s", testing::type::string, {1}).bytes(6, "text"));
  tensors.push_back(testing::tensor("\xff", testing::type::uint8, {}).bytes(9, "x"));
  tensors.push_back(testing::tensor("broken", testing::type::float32, {2}).bytes(9, "x"));
  testing::Message graph = testing::graph(tensors);
  graph.message(1, testing::node("Constant", {}, {"c"})
                       .message(5, testing::Message().bytes(1, "value_ints").packed(8, {1, 2}).varint(20, 7)));
  return Model::open(workspace.write("model.onnx", testing::model(graph).str()));
}

const std::shared_ptr<const Model>& the_model() {
  static const std::shared_ptr<const Model> model = model_of_all_types();
  return model;
}

// The tensor that an input is for, by its first byte.
uint32_t tensor_of(std::string_view input) {
  return static_cast<uint8_t>(input[0]) % static_cast<uint32_t>(the_model()->catalog().tensors().size());
}

}  // namespace

// After the tensor's byte, the input is a .npy file. What is taken is a payload of the tensor, from which the same
// payload comes back as a .npy file again.
void run_npy(std::string_view input) {
  if (input.empty()) return;
  const Model& model = *the_model();
  const uint32_t index = tensor_of(input);
  const Tensor& tensor = model.catalog().tensors()[index];
  if (!has_npy(tensor) || tensor.broken()) return;
  const Rope file = Rope::of(std::string(input.substr(1)));
  NpyHeader header;
  if (accepted([&] { header = read_npy_header(file); })) {
    require(header.data_begin <= file.size(), "data begin past the end");
  }
  Rope payload;
  if (!accepted([&] { payload = parse_npy(file, tensor); })) return;
  require(payload.size() == tensor.nbytes, "a payload of {} bytes, not {}", payload.size(), tensor.nbytes);
  const std::string bytes = read_both_ways(payload);
  TensorContent content = tensor_content(model, index, nullptr, Rope::of(bytes));
  require(parse_npy(npy(content), tensor).text() == bytes, "a payload that is another as .npy");
}

std::vector<std::string> seeds_of_npy() {
  const Model& model = *the_model();
  std::vector<std::string> seeds;
  for (uint32_t i = 0; i < model.catalog().tensors().size(); ++i) {
    const Tensor& tensor = model.catalog().tensors()[i];
    if (tensor.broken() || !has_npy(tensor)) continue;
    const TensorContent content = tensor_content(model, i, nullptr, model.payload(i));
    seeds.push_back(static_cast<char>(i) + npy(content).text());
    std::string fortran = seeds.back();
    const size_t at = fortran.find("False");
    if (i % 4 == 0 && at != std::string::npos) seeds.push_back(fortran.replace(at, 5, "True "));
  }
  return seeds;
}

// After the tensor's byte, the input is its new JSON. What is taken has the tensor's elements, and is then what the
// JSON says: writing that again changes nothing.
void run_json(std::string_view input) {
  if (input.empty()) return;
  const Model& model = *the_model();
  const uint32_t index = tensor_of(input);
  JsonEdit edit;
  if (!accepted([&] { edit = parse_json_edit(model, index, nullptr, input.substr(1)); })) return;
  const TensorEdit change{{}, edit.dims, edit.doc_string, {}};
  if (edit.dims) {
    require(element_count(*edit.dims) == model.catalog().tensors()[index].elements, "a shape of other elements");
  }
  const std::string json = tensor_json(model, index, &change);
  require(nlohmann::json::accept(json), "the JSON after an edit is none");
  const JsonEdit again = parse_json_edit(model, index, &change, json);
  require(!again.dims && !again.doc_string, "the JSON after an edit edits");
  const JsonEdit written_again = parse_json_edit(model, index, &change, input.substr(1));
  require(!written_again.dims && !written_again.doc_string, "an edit that is made twice is another");
}

std::vector<std::string> seeds_of_json() {
  const Model& model = *the_model();
  std::vector<std::string> seeds;
  for (uint32_t i = 0; i < model.catalog().tensors().size(); i += 3) {
    const TensorEdit change{{}, std::vector<int64_t>{1, 6}, "other \xc3\xa4 \" words", {}};
    seeds.push_back(static_cast<char>(i) + tensor_json(model, i));
    if (!model.catalog().tensors()[i].broken()) seeds.push_back(static_cast<char>(i) + tensor_json(model, i, &change));
    seeds.push_back(static_cast<char>(i) + std::string(R"({"shape": [3, 2], "doc_string": "\u00e4\ud83d\ude00"})"));
  }
  return seeds;
}

}  // namespace onnxfs::fuzz
