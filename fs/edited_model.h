#pragma once

#include <memory>
#include <string>

#include "core/sidecar/sidecar.h"
#include "core/views/tensor_content.h"
#include "fs/subject.h"
#include "fs/tree.h"

namespace onnxfs {

// A model with the edits that it had at one moment, for commands that read. Never writes, takes no lock. Any number of
// threads may use one.
class EditedModel {
 public:
  // `path` and `sidecar` as find_subject takes them; `command` is for messages. Throws Error as Model::open and
  // Sidecar::open do.
  static std::shared_ptr<const EditedModel> open(const std::string& path, const std::string& sidecar,
                                                 const std::string& command);

  // The same model without its edits.
  static std::shared_ptr<const EditedModel> without_edits(const EditedModel& edited);

  const Subject& subject() const noexcept { return subject_; }
  const std::shared_ptr<const Model>& model() const noexcept { return model_; }
  Edits edits() const { return sidecar_ ? sidecar_->edits().snapshot() : Edits(); }
  const Tree& tree() const noexcept { return tree_; }

  const Tensor& tensor(uint32_t index) const { return model_->catalog().tensors()[index]; }
  size_t tensor_count() const noexcept { return model_->catalog().tensors().size(); }

  // Its path in the mount, without a suffix: "initializers/conv1.weight".
  std::string path_of(uint32_t tensor) const { return tree_.path_of_tensor(tensor); }

  // Null when it is unedited.
  TensorEditPtr edit(uint32_t tensor) const { return sidecar_ ? sidecar_->edits().find(tensor) : nullptr; }

  // With its edits. Throws Error(EIO) for a broken tensor, with the reason.
  TensorContent content(uint32_t tensor) const;
  Rope payload(uint32_t tensor) const { return sidecar_ ? sidecar_->payload(tensor) : model_->payload(tensor); }

 private:
  EditedModel(Subject subject, std::shared_ptr<const Model> model, std::shared_ptr<const Sidecar> sidecar)
      : subject_(std::move(subject)),
        model_(std::move(model)),
        sidecar_(std::move(sidecar)),
        tree_(model_->catalog()) {}

  Subject subject_;
  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Sidecar> sidecar_;  // through which nobody writes; null for no edits
  Tree tree_;
};

}  // namespace onnxfs
