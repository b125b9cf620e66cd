#include "core/sidecar/editor.h"

namespace onnxfs {

namespace {

TensorEdit copy_of(const TensorEditPtr& edit) { return edit ? *edit : TensorEdit(); }

}  // namespace

Editor::Editor(std::shared_ptr<const Model> model) : model_(std::move(model)), shared_(model_->catalog()) {}

Rope Editor::payload(uint32_t tensor) const {
  const TensorEditPtr edit = edits_.find(tensor);
  return edit && edit->payload ? *edit->payload : model_->payload(tensor);
}

void Editor::write(uint32_t tensor, uint64_t offset, const Rope& piece, timespec at) {
  put_payload(tensor, payload(shared_.owner(tensor)).spliced(offset, piece.size(), piece), at);
}

void Editor::replace(uint32_t tensor, const Rope& content, timespec at) { put_payload(tensor, content, at); }

void Editor::annotate(uint32_t tensor, const Annotation& annotation, timespec at) {
  TensorEdit edit = copy_of(edits_.find(tensor));
  if (annotation.dims) edit.dims = annotation.dims;
  if (annotation.doc_string) edit.doc_string = annotation.doc_string;
  edit.at = at;
  edits_.put(tensor, std::make_shared<const TensorEdit>(std::move(edit)));
}

void Editor::revert(uint32_t tensor, timespec at) {
  const TensorEditPtr edit = edits_.find(tensor);
  if (edit == nullptr) return;
  if (edit->payload) put_payload(tensor, std::nullopt, at);
  if (edits_.find(tensor) != nullptr) edits_.put(tensor, nullptr);
}

void Editor::put_payload(uint32_t tensor, const std::optional<Rope>& content, timespec at) {
  for (const uint32_t sharer : shared_.sharers(shared_.owner(tensor))) {
    TensorEdit edit = copy_of(edits_.find(sharer));
    edit.payload = content;
    edit.at = at;
    const bool nothing = !content && !edit.dims && !edit.doc_string;
    edits_.put(sharer, nothing ? nullptr : std::make_shared<const TensorEdit>(std::move(edit)));
  }
}

void Editor::relocate(uint32_t tensor, const Rope& content) {
  for (const uint32_t sharer : shared_.sharers(shared_.owner(tensor))) {
    TensorEdit edit = copy_of(edits_.find(sharer));
    edit.payload = content;
    edits_.relocate(sharer, std::make_shared<const TensorEdit>(std::move(edit)));
  }
}

}  // namespace onnxfs
