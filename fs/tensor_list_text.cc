#include <fmt/format.h>

#include "core/bytes/utf8.h"
#include "core/views/listing.h"
#include "core/views/tensor_json.h"
#include "fs/byte_size.h"
#include "fs/counted.h"
#include "fs/tensor_list.h"
#include "fs/text_table.h"

namespace onnxfs {

namespace {

using Align = TextTable::Align;

std::string place_of(const Model& model, const Tensor& tensor, const TensorEdit* edit) {
  if (tensor.broken() || !has_place(tensor, edit)) return "-";
  return fmt::format("{}+{}", printable(model.file_name_of(tensor)), tensor.data.begin);
}

// What there is to say besides, in few words or in all.
std::string remarks_on(const EditedModel& model, const ListedTensor& listed, bool is_long) {
  const Tensor& tensor = model.tensor(listed.tensor);
  std::string text;
  const auto add = [&text](const std::string& remark) { text.append(text.empty() ? "" : "; ").append(remark); };
  if (const TensorEditPtr edit = model.edit(listed.tensor)) {
    add(is_long ? fmt::format("edited: {}", changed_parts(*edit)) : "edited");
  }
  if (is_long && !tensor.name.empty() && !listed.path.ends_with(fmt::format("/{}", tensor.name))) {
    add(fmt::format("name: {}", printable(tensor.name)));
  }
  if (const std::string problem = model.model()->problem(listed.tensor); !problem.empty()) {
    add(is_long ? fmt::format("broken: {}", printable(problem)) : "broken");
  }
  return text;
}

// "64 tensors, 45.2 MB".
std::string summary(const TensorList& list) {
  const Total all = list.by_dtype.all();
  std::string text = fmt::format("{}, {}", counted(all.tensors, "tensor"), byte_size_text(all.nbytes));
  if (list.broken != 0) text += fmt::format("; {} broken, of no bytes in sums", list.broken);
  return text;
}

std::string percent(uint64_t part, uint64_t whole) {
  return fmt::format("{:.1f}%", whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
}

void add_drawn(TextTable& table, const std::string& title, const std::vector<Total>& totals, uint64_t whole) {
  constexpr unsigned longest_bar = 30;
  table.add({title, "tensors", "size", "share"});
  for (const Total& total : totals) {
    table.add({total.of, fmt::to_string(total.tensors), byte_size_text(total.nbytes), percent(total.nbytes, whole),
               bar(total.nbytes, whole, longest_bar)});
  }
}

}  // namespace

std::string list_text(const EditedModel& model, const TensorList& list, bool is_long, std::optional<size_t> columns) {
  TextTable table({Align::left, Align::left, Align::left, Align::right, Align::left, Align::left, Align::left});
  if (!list.tensors.empty()) table.add({"path", "dtype", "shape", "size", "storage", is_long ? "place" : ""});
  for (const ListedTensor& listed : list.tensors) {
    const Tensor& tensor = model.tensor(listed.tensor);
    const TensorEditPtr edit = model.edit(listed.tensor);
    const std::string size = is_long ? fmt::to_string(listed.nbytes) : byte_size_text(listed.nbytes);
    std::vector<std::string> row{listed.path, std::string(dtype_word(tensor)), shape_json(tensor, edit.get()), size,
                                 std::string(storage_word(tensor, edit.get()))};
    if (is_long) row.push_back(place_of(*model.model(), tensor, edit.get()));
    row.push_back(remarks_on(model, listed, is_long));
    table.add(std::move(row));
  }
  return table.text(columns);
}

std::string totals_text(const TensorList& list) {
  TextTable table({Align::left, Align::right, Align::right});
  for (const Total& total : sorted(list.by_dtype.list(), ListOrder::size)) {
    table.add({fmt::format("  {}", total.of), counted(total.tensors, "tensor"), byte_size_text(total.nbytes)});
  }
  return fmt::format("{}\n{}", summary(list), table.text());
}

std::string drawn_totals_text(const TensorList& list, ListOrder order, std::optional<size_t> columns) {
  const Total all = list.by_dtype.all();
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::left});
  add_drawn(table, "dtype", sorted(list.by_dtype.list(), order), all.nbytes);
  table.add({});
  add_drawn(table, "layer", sorted(list.by_layer.list(), order), all.nbytes);
  return fmt::format("{}\n\n{}", summary(list), table.text(columns));
}

}  // namespace onnxfs
