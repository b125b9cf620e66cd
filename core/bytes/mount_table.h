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

// What is seen at a path that is absolute and without links, if something is mounted right there.
std::optional<MountTableEntry> topmost_mount(const std::string& path);

}  // namespace onnxfs
