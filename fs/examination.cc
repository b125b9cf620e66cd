#include "fs/examination.h"

#include <cerrno>
#include <iterator>

#include "core/bytes/error.h"
#include "core/onnx/data_checksums.h"

namespace onnxfs {

namespace {

// What only reading a payload shows: the counts of long varint fields, and the numbers in them and in maps' keys.
void read_what_is_unread(const Model& model) {
  const auto& tensors = model.catalog().tensors();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].entries_counted && tensors[i].storage != Storage::keys) continue;
    try {
      model.payload(i);
    } catch (const Error& error) {
      if (error.code() != EIO || model.problem(i).empty()) throw;  // else it is a finding by now
    }
  }
}

}  // namespace

Examination::Examination(const std::string& path, const Progress& progress)
    : model_(Model::open(path)), tree_(model_->catalog()), path_of_(tree_.paths_for_listing()) {
  read_what_is_unread(*model_);
  findings_ = model_->findings();
  const DataChecksums checksums(*model_);
  auto wrong = checksums.verify([&](uint64_t done) { progress(done, checksums.size()); });
  findings_.insert(findings_.end(), std::make_move_iterator(wrong.begin()), std::make_move_iterator(wrong.end()));
}

std::string Examination::line(const Finding& finding) const { return problem_line(finding, *model_, path_of_); }

std::string Examination::tensor_path(const Finding& finding) const {
  return finding.tensor == Tensor::no_index ? "" : path_of_(finding.tensor);
}

}  // namespace onnxfs
