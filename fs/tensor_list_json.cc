#include <fmt/format.h>

#include "core/views/json_lines.h"
#include "core/views/listing.h"
#include "core/views/tensor_json.h"
#include "fs/tensor_list.h"

namespace onnxfs {

namespace {

std::string quoted_or_null(std::string_view text) { return text.empty() ? "null" : json_quote(text); }

std::string tensor_line(const EditedModel& model, const ListedTensor& listed) {
  const Tensor& tensor = model.tensor(listed.tensor);
  const TensorEditPtr edit = model.edit(listed.tensor);
  const std::string problem = model.model()->problem(listed.tensor);
  std::string line =
      fmt::format(R"({{"path": {}, "bin": {}, "name": {}, "dtype": {}, "shape": {}, "nbytes": {}, "storage": "{}")",
                  json_quote(listed.path), json_quote(listed.path + ".bin"), json_quote(tensor.name),
                  quoted_or_null(tensor.type() == nullptr ? "" : tensor.type()->name), shape_json(tensor, edit.get()),
                  listed.nbytes, storage_word(tensor, edit.get()));
  if (problem.empty() && has_place(tensor, edit.get())) {
    line += fmt::format(R"(, "file": {}, "offset": {}, "length": {})", json_quote(model.model()->file_name_of(tensor)),
                        tensor.data.begin, tensor.data.size());
  } else {
    line += R"(, "file": null, "offset": null, "length": null)";
  }
  return line += fmt::format(R"(, "edited": {}, "changed": {}, "problem": {}}})", edit != nullptr,
                             edit == nullptr ? "null" : changed_json(*edit), quoted_or_null(problem));
}

std::string totals_line(std::string_view key, std::string_view what, const std::vector<Total>& totals) {
  std::string text = fmt::format("    \"{}\": [", key);
  for (const Total& total : totals) {
    text += fmt::format("{}\n      {{\"{}\": {}, \"tensors\": {}, \"nbytes\": {}}}",
                        &total == &totals.front() ? "" : ",", what, json_quote(total.of), total.tensors, total.nbytes);
  }
  return text += totals.empty() ? "]" : "\n    ]";
}

}  // namespace

std::string list_json(const EditedModel& model, const TensorList& list, ListOrder order, bool only_totals) {
  std::string text = fmt::format("{{\n  \"model\": {},\n", json_quote(model.subject().model));
  if (!only_totals) {
    text += "  \"tensors\": [";
    for (const ListedTensor& listed : list.tensors) {
      text.append(&listed == &list.tensors.front() ? "\n    " : ",\n    ").append(tensor_line(model, listed));
    }
    text += list.tensors.empty() ? "],\n" : "\n  ],\n";
  }
  const Total all = list.by_dtype.all();
  return text += fmt::format(
             "  \"totals\": {{\n    \"tensors\": {},\n    \"nbytes\": {},\n    \"broken\": {},\n{},\n{}\n  }}\n}}\n",
             all.tensors, all.nbytes, list.broken,
             totals_line("by_dtype", "dtype", sorted(list.by_dtype.list(), order)),
             totals_line("by_layer", "layer", sorted(list.by_layer.list(), order)));
}

}  // namespace onnxfs
