#include "core/views/listing.h"

#include <fmt/format.h>

#include <iterator>

#include "core/bytes/utf8.h"
#include "core/views/tensor_json.h"

namespace onnxfs {

std::string index_tsv(const Model& model, const PathOf& path_of) {
  std::string text = "path\tdtype\tshape\tnbytes\tstorage\n";
  const auto& tensors = model.catalog().tensors();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    fmt::format_to(std::back_inserter(text), "{}.bin\t{}\t{}\t{}\t{}\n", path_of(i), dtype_word(tensor),
                   shape_json(tensor), tensor.nbytes, storage_name(tensor));
  }
  return text;
}

std::string problems_txt(const Model& model, const PathOf& path_of) {
  std::string text;
  for (const Finding& finding : model.findings()) {
    if (finding.tensor != Tensor::no_index) text.append(path_of(finding.tensor)).append(": ");
    text += finding.text;
    if (finding.offset) text += fmt::format(" (at offset {} of {})", *finding.offset, printable(model.name()));
    text += '\n';
  }
  return text;
}

}  // namespace onnxfs
