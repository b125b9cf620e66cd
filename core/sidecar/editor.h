#pragma once

#include <memory>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"
#include "core/onnx/shared_payloads.h"
#include "core/sidecar/annotation.h"

namespace onnxfs {

// What records do to the edits of a model, when they are made and when they are replayed. An edit of a payload is one
// of all tensors that share it; shapes and documentation are each tensor's own.
//
// Any number of threads may read the edits, while one at a time calls what changes them. Wants numbers that fit:
// tensors of the catalog that are not broken, ranges within their payloads.
class Editor {
 public:
  explicit Editor(std::shared_ptr<const Model> model);

  const Model& model() const noexcept { return *model_; }
  const EditTable& edits() const noexcept { return edits_; }
  const SharedPayloads& shared() const noexcept { return shared_; }
  Rope payload(uint32_t tensor) const;

  void write(uint32_t tensor, uint64_t offset, const Rope& piece, timespec at);
  void replace(uint32_t tensor, const Rope& content, timespec at);
  void annotate(uint32_t tensor, const Annotation& annotation, timespec at);
  void revert(uint32_t tensor, timespec at);

  // The same content, whose bytes now stand elsewhere: no change that anybody sees.
  void relocate(uint32_t tensor, const Rope& content);

 private:
  void put_payload(uint32_t tensor, const std::optional<Rope>& content, timespec at);

  std::shared_ptr<const Model> model_;
  SharedPayloads shared_;
  EditTable edits_;
};

}  // namespace onnxfs
