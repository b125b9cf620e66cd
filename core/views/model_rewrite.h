// What becomes of a model's file when payloads in it, and what else is known of its tensors, are others.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "core/bytes/patch.h"
#include "core/onnx/edit.h"
#include "core/onnx/model.h"
#include "core/views/tensor_rewrite.h"

namespace onnxfs {

// Whether a tensor's payload, as far as it stands in one file, stands in this one.
bool stands_in(const Model& model, const Tensor& tensor, const FileIdentity& file);

// The edits of payloads that stand in one file in their own form, as patches. One thread.
class PlacedPayloads {
 public:
  explicit PlacedPayloads(const Model& model) : model_(model) {}

  // Whether the tensor's payload does; then what is edited of it becomes patches. EINVAL for an edit of another size.
  bool add(uint32_t tensor, const Rope& edited);

  // In the order of the file.
  std::vector<Patch> take() &&;

 private:
  void add_changes(const Tensor& tensor, const Rope& original, Rope edited);

  const Model& model_;
  std::set<std::pair<uint64_t, uint64_t>> seen_;  // payloads that several tensors share are edited as one
  std::vector<Patch> patches_;
};

// Collects the changes of a model's file: payloads where they stand, and fields by a TensorRewriter. One thread.
class ModelRewrite {
 public:
  explicit ModelRewrite(const Model& model) : model_(model), fields_(model), placed_(model) {}

  // Of a tensor whose payload stays in the form that it has, or becomes raw_data in its place. A payload in a data file
  // changes nothing.
  void set_payload(uint32_t tensor, const Rope& payload);

  // The dimensions and documentation of an edit.
  void annotate(uint32_t tensor, const TensorEdit& edit);

  TensorRewriter& fields() noexcept { return fields_; }

  struct Changes {
    std::vector<Patch> patches;  // in order
    bool in_place = true;        // whether payloads are all that they change
  };
  Changes take() &&;

 private:
  const Model& model_;
  TensorRewriter fields_;
  PlacedPayloads placed_;
};

}  // namespace onnxfs
