#pragma once

#include <ctime>
#include <string>

#include "core/onnx/model.h"

namespace onnxfs {

// What is known of a mount besides its content.
struct MountFacts {
  std::string model_path;   // of the model or folder; absolute
  std::string mount_point;  // absolute
  std::time_t mounted_at = 0;
};

// .onnxfs/status.json: the program and its process, the mount, and of the model file and its data files whether they
// still are what was opened. Made by the serving process.
std::string status_json(const Model& model, const MountFacts& facts);

// The same of a mounted folder: the program, its process and the mount.
std::string folder_status_json(const MountFacts& facts);

}  // namespace onnxfs
