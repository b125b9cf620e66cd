// Which files in a folder are models, by their names.
#pragma once

#include <string_view>

namespace onnxfs {

inline bool is_model_name(std::string_view name) { return name.ends_with(".onnx") || name.ends_with(".pb"); }

// The folder that keeps a model's edits, which are seen in the model.
inline bool is_sidecar_name(std::string_view name) {
  constexpr std::string_view suffix = ".sidecar";
  return name.ends_with(suffix) && is_model_name(name.substr(0, name.size() - suffix.size()));
}

}  // namespace onnxfs
