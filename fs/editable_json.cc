#include <cerrno>

#include "core/bytes/error.h"
#include "core/views/json_edit.h"
#include "core/views/tensor_json.h"
#include "fs/editable.h"

namespace onnxfs {

namespace {

class EditableJson final : public Editable {
 public:
  EditableJson(std::shared_ptr<Sidecar> sidecar, uint32_t tensor) : sidecar_(std::move(sidecar)), index_(tensor) {}

  Rope content() const override {
    return Rope::of(tensor_json(sidecar_->model(), index_, sidecar_->edits().find(index_).get()));
  }
  uint64_t most() const override { return longest_json_edit; }
  bool takes_patches() const override { return false; }
  void patch(uint64_t, std::span<const std::byte>) override { fail(EINVAL, "a JSON file is replaced as a whole"); }

  void replace(const Stage& draft) override {
    const Rope content = draft.content();
    if (content.size() > longest_json_edit) fail(EFBIG, "a JSON file of {} bytes is too large", content.size());
    const TensorEditPtr edit = sidecar_->edits().find(index_);
    const JsonEdit change = parse_json_edit(sidecar_->model(), index_, edit.get(), content.text());
    if (!change.dims && !change.doc_string) return;
    sidecar_->annotate(index_, change.dims ? &*change.dims : nullptr,
                       change.doc_string ? &*change.doc_string : nullptr);
  }

 private:
  std::shared_ptr<Sidecar> sidecar_;
  uint32_t index_;
};

}  // namespace

std::unique_ptr<Editable> editable_json(std::shared_ptr<Sidecar> sidecar, uint32_t tensor) {
  return std::make_unique<EditableJson>(std::move(sidecar), tensor);
}

}  // namespace onnxfs
