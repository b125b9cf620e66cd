#include "fs/edited_model.h"

#include "core/sidecar/sidecar.h"

namespace onnxfs {

std::shared_ptr<const EditedModel> EditedModel::open(const std::string& path, const std::string& sidecar,
                                                     const std::string& command) {
  Subject subject = find_subject(path, sidecar);
  auto model = Model::open(subject.model);
  Edits edits = Sidecar::open(model, subject.sidecar, command)->edits().snapshot();
  return std::shared_ptr<const EditedModel>(new EditedModel(std::move(subject), std::move(model), std::move(edits)));
}

TensorEditPtr EditedModel::edit(uint32_t tensor) const {
  const auto found = edits_.find(tensor);
  return found == edits_.end() ? nullptr : found->second;
}

Rope EditedModel::payload(uint32_t tensor) const {
  const TensorEditPtr edited = edit(tensor);
  return edited && edited->payload ? *edited->payload : model_->payload(tensor);
}

TensorContent EditedModel::content(uint32_t tensor) const {
  return tensor_content(*model_, tensor, edit(tensor).get(), payload(tensor));
}

}  // namespace onnxfs
