#pragma once

#include <string>
#include <string_view>

namespace onnxfs {

// What a command that reads is about: the file of a model, and the folder with its edits, which may not be there.
// Absolute paths.
struct Subject {
  std::string model;
  std::string sidecar;
};

// What is shown at a path in a mount, where it is on disk: of the mount of a model the model, of that of a folder the
// model or folder in it. Any other path as it is.
std::string path_on_disk(const std::string& path);

// The folder that an option names for the edits, if it does; ENOENT when there are none in it, which no command that
// reads or ends edits is asked for on purpose.
std::string require_edits_in(const std::string& sidecar);

// For commands that write a model's file, which a mount has no place for: throws Error(EISDIR) for a folder, with the
// way out where something is mounted. `command` is "commit" or "discard".
void require_no_folder(const std::string& path, std::string_view command);

// Of a path to a model's file, to the folder that a model is mounted at, or to that of a model in a mounted folder of
// models. `sidecar`: where the edits are; "" for where the mount keeps them, or else where the model's own are. Throws
// Error(EINVAL) for a mount that is not one of a single model or whose process has ended, EISDIR for any other folder,
// and as require_edits_in does; whether the model exists is for those who open it.
Subject find_subject(const std::string& path, const std::string& sidecar);

}  // namespace onnxfs
