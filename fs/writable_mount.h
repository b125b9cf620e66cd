#pragma once

#include <optional>
#include <string>

namespace onnxfs {

// Where a model is mounted by an onnxfs that may write its edits; nothing when it is not. A mount that says of its
// source something else than the model's path is not found.
std::optional<std::string> find_writable_mount(const std::string& model_path);

// Throws Error(EBUSY), with the mount point and the way out, for a model that is so mounted.
void require_no_writable_mount(const std::string& model_path);

}  // namespace onnxfs
