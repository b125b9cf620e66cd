#include "core/views/safetensors_entries.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <tuple>
#include <unordered_set>

#include "core/bytes/utf8.h"

namespace onnxfs {

namespace {

constexpr std::string_view metadata_key = "__metadata__";

struct Dtype {
  std::string_view onnx;
  std::string_view name;
};

constexpr std::array<Dtype, 20> dtypes{{
    {"BOOL", "BOOL"},          {"UINT8", "U8"},           {"INT8", "I8"},
    {"UINT16", "U16"},         {"INT16", "I16"},          {"UINT32", "U32"},
    {"INT32", "I32"},          {"UINT64", "U64"},         {"INT64", "I64"},
    {"FLOAT16", "F16"},        {"BFLOAT16", "BF16"},      {"FLOAT", "F32"},
    {"DOUBLE", "F64"},         {"COMPLEX64", "C64"},      {"FLOAT8E4M3FN", "F8_E4M3"},
    {"FLOAT8E5M2", "F8_E5M2"}, {"FLOAT8E8M0", "F8_E8M0"}, {"FLOAT6E2M3", "F6_E2M3"},
    {"FLOAT6E3M2", "F6_E3M2"}, {"FLOAT4E2M1", "F4"},
}};

std::string_view first_component(std::string_view path) { return path.substr(0, path.find('/')); }

// Gives every tensor a key that no other has.
class Keys {
 public:
  Keys(const Model& model, const PathOf& path_of, std::deque<std::string>& paths)
      : catalog_(model.catalog()), path_of_(path_of), paths_(paths) {
    taken_.insert(metadata_key);
    // Paths are taken, too; but they are many, and few models have a name that could be one.
    std::set<std::string, std::less<>> folders;
    const auto count = static_cast<uint32_t>(catalog_.tensors().size());
    for (uint32_t i = 0; i < count; ++i) folders.emplace(first_component(path_of(i)));
    const auto could_be_path = [&folders](const Tensor& tensor) {
      return folders.contains(first_component(tensor.name));
    };
    if (std::ranges::none_of(catalog_.tensors(), could_be_path)) return;
    for (uint32_t i = 0; i < count; ++i) taken_.insert(paths_.emplace_back(path_of(i)));
  }

  // To be asked in file order.
  std::string_view take(uint32_t index) {
    const Tensor& tensor = catalog_.tensors()[index];
    const bool in_main_graph =
        tensor.kind == Kind::initializer && scope_of(catalog_.sections(), tensor.section) == "graph";
    const bool is_key = in_main_graph && !tensor.name.empty() && is_utf8(tensor.name);
    return is_key && taken_.insert(tensor.name).second ? tensor.name : paths_.emplace_back(path_of_(index));
  }

 private:
  const Catalog& catalog_;
  const PathOf& path_of_;
  std::deque<std::string>& paths_;
  std::unordered_set<std::string_view> taken_;  // of `paths_` and the catalog
};

}  // namespace

std::string_view safetensors_dtype(const DataType& type, uint64_t elements) {
  if (type.bits % 8 != 0 && elements % 8 * type.bits % 8 != 0) return "";
  const auto found = std::ranges::find(dtypes, type.onnx_name, &Dtype::onnx);
  return found == dtypes.end() ? "" : found->name;
}

SafetensorsEntries safetensors_entries(const Model& model, const Edits& edits, const PathOf& path_of) {
  const auto& tensors = model.catalog().tensors();
  SafetensorsEntries entries;
  entries.list.reserve(tensors.size());
  Keys keys(model, path_of, entries.paths);
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (!model.problem(i).empty()) continue;
    const Tensor& tensor = tensors[i];
    const auto found = edits.find(i);
    const TensorEdit* edit = found == edits.end() ? nullptr : found->second.get();
    SafetensorsEntry entry{i, 8, false, "", keys.take(i), tensor.dims, tensor.nbytes};
    if (edit != nullptr && edit->payload) entry.size = edit->payload->size();
    if (edit != nullptr && edit->dims) entry.shape = *edit->dims;
    if (tensor.type() != nullptr) entry.dtype = safetensors_dtype(*tensor.type(), tensor.elements);
    entry.is_opaque = entry.dtype.empty();
    if (entry.is_opaque) entry.dtype = "U8";
    else entry.alignment = tensor.type()->bits;
    entries.list.push_back(entry);
  }
  std::ranges::sort(entries.list, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(b.alignment, a.key) < std::tie(a.alignment, b.key);
  });
  return entries;
}

}  // namespace onnxfs
