#pragma once

#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/sidecar/sidecar.h"

namespace onnxfs {

// What is known of a mount besides its content.
struct MountFacts {
  std::string model_path;   // of the model or folder; absolute
  std::string mount_point;  // absolute
  std::time_t mounted_at = 0;
  bool read_only = false;
};

// .onnxfs/status.json: the program and its process, the mount, the files that were made in it and are no tensor's; of
// the model file and its data files whether they still are what was opened, and of the sidecar how many tensors are
// edited in it. Made by the serving process.
std::string status_json(const Sidecar& sidecar, const MountFacts& facts, const std::vector<std::string>& scratch_files);

// The same of a mounted folder: the program, its process, the mount and those files.
std::string folder_status_json(const MountFacts& facts, const std::vector<std::string>& scratch_files);

// The status.json of a mount, or null when nobody answers there.
nlohmann::json read_status(const std::string& mount_point);

// Whether it is that of a single model, which has edits of its own: "model" and "sidecar" are its paths.
bool is_of_model(const nlohmann::json& status);

}  // namespace onnxfs
