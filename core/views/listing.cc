#include "core/views/listing.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

#include "core/bytes/utf8.h"
#include "core/views/tensor_json.h"

namespace onnxfs {

std::string index_tsv(const Model& model, const PathOf& path_of, const Edits& edits) {
  std::string text = "path\tdtype\tshape\tnbytes\tstorage\n";
  const auto& tensors = model.catalog().tensors();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    const auto found = edits.find(i);
    const TensorEdit* edit = found == edits.end() ? nullptr : found->second.get();
    fmt::format_to(std::back_inserter(text), "{}.bin\t{}\t{}\t{}\t{}\n", path_of(i), dtype_word(tensor),
                   shape_json(tensor, edit), payload_size(tensor, edit), storage_word(tensor, edit));
  }
  return text;
}

namespace {

std::vector<std::string_view> parts_of(const TensorEdit& edit) {
  std::vector<std::string_view> parts;
  if (edit.payload) parts.emplace_back("payload");
  if (edit.dims) parts.emplace_back("shape");
  if (edit.doc_string) parts.emplace_back("doc_string");
  return parts;
}

}  // namespace

std::string changed_parts(const TensorEdit& edit) { return fmt::format("{}", fmt::join(parts_of(edit), ",")); }

std::string changed_json(const TensorEdit& edit) {
  const auto parts = parts_of(edit);
  return parts.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(parts, "\", \""));
}

std::string changed_at(const TensorEdit& edit) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(edit.at.tv_sec));
}

std::string edits_tsv(const PathOf& path_of, const Edits& edits) {
  std::string text = "path\tchanged\tat\n";
  for (const auto& [tensor, edit] : edits) {
    fmt::format_to(std::back_inserter(text), "{}.bin\t{}\t{}\n", path_of(tensor), changed_parts(*edit),
                   changed_at(*edit));
  }
  return text;
}

std::string problem_line(const Finding& finding, const Model& model, const PathOf& path_of) {
  std::string text;
  if (finding.tensor != Tensor::no_index) text.append(path_of(finding.tensor)).append(": ");
  text += finding.text;
  if (finding.offset) text += fmt::format(" (at offset {} of {})", *finding.offset, printable(model.name()));
  return text;
}

std::string problems_txt(const Model& model, const PathOf& path_of) {
  std::string text;
  for (const Finding& finding : model.findings()) text.append(problem_line(finding, model, path_of)).append("\n");
  return text;
}

}  // namespace onnxfs
