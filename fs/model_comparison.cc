#include "fs/model_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "core/analysis/number_decoder.h"
#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/onnx/section.h"
#include "core/views/graph_txt.h"
#include "core/views/json_lines.h"
#include "core/views/model_json.h"
#include "core/views/node_line.h"
#include "core/views/tensor_json.h"
#include "fs/tensor_selection.h"

namespace onnxfs {

namespace {

std::vector<std::string> paths_of(const EditedModel& model) {
  std::vector<std::string> paths(model.tensor_count());
  for (uint32_t i = 0; i < paths.size(); ++i) paths[i] = model.path_of(i);
  return paths;
}

// Marks what a pattern names; false when that is nothing.
bool mark(const EditedModel& model, const std::string& pattern, std::vector<bool>& marked) {
  try {
    for (const uint32_t i : tensors_named(model.model()->catalog(), model.tree(), pattern, "")) marked[i] = true;
    return true;
  } catch (const Error& error) {
    if (error.code() != ENOENT) throw;
    return false;
  }
}

uint64_t size_of(const EditedModel& model, uint32_t tensor) {
  return payload_size(model.tensor(tensor), model.edit(tensor).get());
}

// So that a trouble says with which tensor it is.
template <typename Read>
auto naming(const EditedModel& model, uint32_t tensor, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    fail(error.code(), "{}: {}: {}", model.subject().model, model.path_of(tensor), error.what());
  }
}

// Whether nodes know the tensor by its name. An attribute's has one too, which means nothing.
bool is_named(const Tensor& tensor) { return tensor.kind == Kind::initializer || tensor.kind == Kind::sparse_values; }

}  // namespace

bool TensorComparison::is_different(const Tolerance& tolerance) const {
  if (!trouble.empty()) return false;
  if (!a || !b || shape_changed() || name_changed()) return true;
  if (!difference || difference->changed != 0) return true;
  return dtype_changed() && !tolerance.any();
}

ModelComparison::ModelComparison(const EditedModel& a, const EditedModel& b, const std::vector<std::string>& patterns,
                                 std::span<const PrefixMap> maps, const Tolerance& tolerance)
    : a_(a), b_(b), tolerance_(tolerance), pairs_(pair_by_path(paths_of(a), paths_of(b), maps)) {
  if (patterns.empty()) return;
  std::vector<bool> in_a(a.tensor_count()), in_b(b.tensor_count());
  for (const std::string& pattern : patterns) {
    const bool names_some = mark(a, pattern, in_a);
    if (!mark(b, pattern, in_b) && !names_some) {
      std::string meant = meant_tensors(a.tree(), a.tensor_count(), pattern);
      if (meant.empty()) meant = meant_tensors(b.tree(), b.tensor_count(), pattern);
      fail(ENOENT, "neither {} nor {} has a tensor \"{}\"{}", a.subject().model, b.subject().model, printable(pattern),
           meant.empty() ? std::string("; `onnxfs ls` lists them") : meant);
    }
  }
  std::erase_if(pairs_, [&](const Pair& pair) { return !(pair.a && in_a[*pair.a]) && !(pair.b && in_b[*pair.b]); });
}

uint64_t ModelComparison::bytes(const Pair& pair) const {
  if (!pair.a || !pair.b) return 0;
  return size_of(a_, *pair.a) + size_of(b_, *pair.b);
}

TensorComparison::Side ModelComparison::side(const EditedModel& model, uint32_t index) const {
  const Tensor& tensor = model.tensor(index);
  const DataType* type = tensor.type();
  const auto* dense = model.model()->catalog().dense_shape(index);
  return {model.path_of(index), type == nullptr ? fmt::format("type {}", tensor.data_type) : std::string(type->name),
          shape_json(tensor, model.edit(index).get()), dense == nullptr ? "" : dims_json(*dense),
          is_named(tensor) ? std::string(tensor.name) : ""};
}

TensorComparison ModelComparison::compare(const Pair& pair, Workers& workers) {
  TensorComparison result;
  if (pair.a) result.a = side(a_, *pair.a);
  if (pair.b) result.b = side(b_, *pair.b);
  if (!pair.a || !pair.b) return result;
  const Tensor& a = a_.tensor(*pair.a);
  const Tensor& b = b_.tensor(*pair.b);
  try {
    naming(a_, *pair.a, [&] { return a_.payload(*pair.a); });
    naming(b_, *pair.b, [&] { return b_.payload(*pair.b); });
    const bool as_many = a.type() != nullptr ? a.elements == b.elements : a.nbytes == b.nbytes;
    if (!as_many || !can_compare(a.type(), b.type())) {
      workers.advance(bytes(pair));
      return result;
    }
    result.difference = naming(a_, *pair.a, [&] { return compare_payloads(*pair.a, *pair.b, workers); });
  } catch (const Error& error) {
    result.trouble = error.what();
  }
  return result;
}

Difference ModelComparison::compare_payloads(uint32_t index_a, uint32_t index_b, Workers& workers) {
  const Tensor& a = a_.tensor(index_a);
  const Compared from_a{a_.payload(index_a), a.type()}, from_b{b_.payload(index_b), b_.tensor(index_b).type()};
  if (a.data_type == string_type) {
    return string_difference_between(from_a.payload, from_b.payload, a.elements, workers);
  }
  const auto place_a = place_of(from_a.payload), place_b = place_of(from_b.payload);
  if (!place_a || !place_b) return difference_between(from_a, from_b, a.elements, tolerance_, workers);
  const PlacePair places{*place_a, *place_b};
  const auto [first, last] = known_.equal_range(places);
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    return entry.second.type_a == from_a.type && entry.second.type_b == from_b.type;
  });
  if (found != last || (from_a.type == from_b.type && *place_a == *place_b)) {
    workers.advance(from_a.payload.size() + from_b.payload.size());
    if (found != last) return found->second.difference;
    Difference equal;
    equal.bytes_equal = true;
    equal.numbers = NumberDecoder(from_a.type).numbers(a.elements, from_a.payload.size());
    return equal;
  }
  const Difference difference = difference_between(from_a, from_b, a.elements, tolerance_, workers);
  known_.emplace(places, Known{from_a.type, from_b.type, difference});
  return difference;
}

ModelComparison::Graphs ModelComparison::graphs() const {
  std::unordered_map<std::string, std::string> names;
  for (const Pair& pair : pairs_) {
    if (!pair.a || !pair.b || a_.path_of(*pair.a) == b_.path_of(*pair.b)) continue;
    const Tensor& a = a_.tensor(*pair.a);
    const Tensor& b = b_.tensor(*pair.b);
    if (is_named(a) && a.name != b.name && !a.name.empty()) names.emplace(plain_name(a.name), plain_name(b.name));
  }
  const GraphTexts a = graph_texts(*a_.model()), b = graph_texts(*b_.model());
  const auto between = [&names](const std::string& text_a, const std::string& text_b) {
    return graph_difference(names.empty() ? text_a : with_other_names(text_a, names), text_b);
  };
  return {between(a.nodes, b.nodes), between(a.declarations, b.declarations)};
}

std::vector<HeaderDifference> ModelComparison::header() const {
  return header_differences(model_json(*a_.model()), model_json(*b_.model()));
}

}  // namespace onnxfs
