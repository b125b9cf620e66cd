#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/filesystem.h"

namespace onnxfs {

// What was said with -o. Names are those of mount(8) and fuse(8).
struct MountOptions {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<mode_t> umask;
  bool read_only = false;
  std::string sidecar;                // empty: beside the model
  std::vector<std::string> for_fuse;  // what the kernel or libfuse has to know, as it was written

  // `lists` are comma-separated lists of options, in the order they were given; of one given twice the last counts.
  // Throws UsageError that names an option which is not known or has no good value.
  static MountOptions parse(const std::vector<std::string>& lists);

  // The list without the options whose names are not known, as `mount -s` asks for.
  static std::string known(std::string_view list);

  // The owner of the files: who mounts, unless said otherwise.
  Ownership ownership() const;
};

}  // namespace onnxfs
