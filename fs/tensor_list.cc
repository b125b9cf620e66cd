#include "fs/tensor_list.h"

#include <string.h>

#include <algorithm>

#include "core/views/tensor_json.h"
#include "fs/tensor_selection.h"

namespace onnxfs {

namespace {

bool is_before(const std::string& path, const std::string& other) {
  return ::strverscmp(path.c_str(), other.c_str()) < 0;
}

}  // namespace

TensorList list_tensors(const EditedModel& model, const std::vector<std::string>& patterns, ListOrder order) {
  TensorList list;
  const Catalog& catalog = model.model()->catalog();
  const auto path_of = model.tree().paths_for_listing();
  for (const uint32_t index : select_tensors(catalog, model.tree(), patterns, model.subject().model)) {
    const Tensor& tensor = catalog.tensors()[index];
    list.tensors.push_back({index, path_of(index), payload_size(tensor, model.edit(index).get())});
    const ListedTensor& listed = list.tensors.back();
    const bool is_broken = !model.model()->problem(index).empty();
    const uint64_t nbytes = is_broken ? 0 : listed.nbytes;
    list.broken += is_broken;
    list.by_dtype.add(dtype_word(tensor), nbytes);
    list.by_layer.add(layer_of(listed.path), nbytes);
  }
  if (order == ListOrder::path) std::ranges::stable_sort(list.tensors, is_before, &ListedTensor::path);
  if (order == ListOrder::size) std::ranges::stable_sort(list.tensors, std::greater<>(), &ListedTensor::nbytes);
  return list;
}

std::vector<Total> sorted(std::vector<Total> totals, ListOrder order) {
  if (order == ListOrder::path) std::ranges::stable_sort(totals, is_before, &Total::of);
  if (order == ListOrder::size) std::ranges::stable_sort(totals, std::greater<>(), &Total::nbytes);
  return totals;
}

}  // namespace onnxfs
