#include "fs/edited_model.h"

namespace onnxfs {

std::shared_ptr<const EditedModel> EditedModel::open(const std::string& path, const std::string& sidecar,
                                                     const std::string& command) {
  Subject subject = find_subject(path, sidecar);
  auto model = Model::open(subject.model);
  auto edits = Sidecar::open(model, subject.sidecar, command);
  return std::shared_ptr<const EditedModel>(new EditedModel(std::move(subject), std::move(model), std::move(edits)));
}

std::shared_ptr<const EditedModel> EditedModel::without_edits(const EditedModel& edited) {
  return std::shared_ptr<const EditedModel>(new EditedModel(edited.subject_, edited.model_, nullptr));
}

TensorContent EditedModel::content(uint32_t tensor) const {
  return tensor_content(*model_, tensor, edit(tensor).get(), payload(tensor));
}

}  // namespace onnxfs
