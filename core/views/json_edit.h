// What a person may change of a tensor by writing its JSON sibling.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"

namespace onnxfs {

struct JsonEdit {
  std::optional<std::vector<int64_t>> dims;
  std::optional<std::string> doc_string;
};

// The most bytes that a JSON sibling may have when it is written.
constexpr uint64_t longest_json_edit = 16 << 20;

// What differs in `text` from the JSON of a tensor with the edits that it has: a shape of as many elements, a
// doc_string. Keys may be missing. Throws Error(EINVAL) for text that is no JSON object, and for anything else that
// differs both from what the JSON says now and from what it said before there was an edit.
JsonEdit parse_json_edit(const Model& model, uint32_t tensor, const TensorEdit* edit, std::string_view text);

// Whether a tensor is of a kind that has a shape and a documentation of its own to change: a TensorProto.
bool can_be_annotated(const Tensor& tensor);

}  // namespace onnxfs
