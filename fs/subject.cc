#include "fs/subject.h"

#include <cerrno>
#include <filesystem>
#include <optional>

#include "core/bytes/error.h"
#include "core/sidecar/sidecar.h"
#include "fs/mount_point.h"
#include "fs/status.h"

namespace onnxfs {

namespace {

namespace files = std::filesystem;

// What is mounted at a mount point, as its own status says.
Subject subject_of_mount(const std::string& mount_point) {
  const auto json = read_status(mount_point);
  if (!is_of_model(json)) {
    fail(EINVAL, "the mount at {} is not one of a single model; ask for a model by its path", mount_point);
  }
  return {json["model"].get<std::string>(), json["sidecar"].get<std::string>()};
}

// The model that a folder stands for, if it is one in a mounted folder of models.
std::optional<std::string> model_in_mounted_folder(const std::string& path) {
  std::error_code error;
  if (!files::is_directory(path, error)) return std::nullopt;
  const files::path folder = absolute_path(path);
  for (files::path above = folder; above.has_relative_path(); above = above.parent_path()) {
    if (!find_mounted(above)) continue;
    const auto json = read_status(above);
    if (is_of_model(json) || !json.contains("model")) return std::nullopt;
    const files::path model = json["model"].get<std::string>() / folder.lexically_relative(above);
    return files::is_regular_file(model, error) ? std::optional(model.string()) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Subject find_subject(const std::string& path, const std::string& sidecar) {
  if (const auto mounted = find_mounted(path)) {
    Subject subject = subject_of_mount(mounted->mount_point);
    if (!sidecar.empty()) subject.sidecar = files::absolute(sidecar);
    return subject;
  }
  const std::string model = model_in_mounted_folder(path).value_or(path);
  return {files::absolute(model), files::absolute(sidecar.empty() ? sidecar_path(model) : sidecar)};
}

}  // namespace onnxfs
