#pragma once

#include <optional>
#include <string>
#include <vector>

namespace onnxfs {

// One mount that this process sees.
struct MountTableEntry {
  std::string mount_point;
  std::string device;  // "0:52"
  std::string type;
  std::string source;  // of ours the path of the model, unless a mount option says otherwise
  bool read_only = false;

  bool is_ours() const { return type == "fuse.onnxfs"; }
};

// In the order in which they were mounted: of several at one mount point, the last is the one that is seen.
std::vector<MountTableEntry> read_mount_table();

// Where a model is mounted by an onnxfs that may write its edits; nothing when it is not. A mount that says of its
// source something else than the model's path is not found.
std::optional<std::string> find_writable_mount(const std::string& model_path);

// Throws Error(EBUSY), with the mount point and the way out, for a model that is so mounted.
void require_no_writable_mount(const std::string& model_path);

}  // namespace onnxfs
