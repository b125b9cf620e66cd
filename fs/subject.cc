#include "fs/subject.h"

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/bytes/error.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/sidecar.h"
#include "fs/mount_point.h"
#include "fs/status.h"

namespace onnxfs {

namespace {

namespace files = std::filesystem;

// A path in a mount of ours.
struct ShownPath {
  files::path mount_point;
  files::path below;      // the mount point; "." for that itself
  nlohmann::json status;  // null of a dead mount
};

std::optional<ShownPath> find_shown(const std::string& path) {
  if (const auto mounted = find_mounted(path))
    return ShownPath{mounted->mount_point, ".", read_status(mounted->mount_point)};
  std::error_code error;
  if (!files::is_directory(path, error)) return std::nullopt;
  const files::path folder = absolute_path(path);
  for (files::path above = folder.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    if (find_mounted(above)) return ShownPath{above, folder.lexically_relative(above), read_status(above)};
  }
  return std::nullopt;
}

// What the mount point shows is a model or a folder; in the mount of a model there is nothing that is on disk.
std::optional<files::path> on_disk(const ShownPath& shown) {
  if (!shown.status.contains("model") || !shown.status["model"].is_string()) return std::nullopt;
  const files::path mounted = shown.status["model"].get<std::string>();
  if (shown.below == ".") return mounted;
  std::error_code error;
  const files::path found = mounted / shown.below;
  return !is_of_model(shown.status) && files::exists(found, error) ? std::optional(found) : std::nullopt;
}

}  // namespace

std::string path_on_disk(const std::string& path) {
  const auto shown = find_shown(path);
  return (shown ? on_disk(*shown) : std::nullopt).value_or(path);
}

std::string require_edits_in(const std::string& sidecar) {
  if (sidecar.empty()) return sidecar;
  if (!exists(sidecar)) fail(ENOENT, "there is no folder {}", sidecar);
  require_folder(sidecar);
  if (!has_edits(sidecar)) fail(ENOENT, "there are no edits in {}", sidecar);
  return sidecar;
}

void require_no_folder(const std::string& path, std::string_view command) {
  std::error_code ignored;
  if (const auto shown = find_shown(path)) {
    const std::string mount_point = shown->mount_point.string();
    if (shown->status.is_null()) {
      fail(EISDIR, "{} is a mount whose process has ended; clean it up first: onnxfs umount {}", path, mount_point);
    }
    const files::path model = on_disk(*shown).value_or("MODEL");
    if (!is_of_model(shown->status)) {
      fail(EISDIR, "{} is a mount of a folder; unmount it, then {} each model: onnxfs umount {}; onnxfs {} {}", path,
           command, mount_point, command, files::is_regular_file(model, ignored) ? model.string() : "MODEL");
    }
    if (command == "commit")
      fail(EISDIR, "{} is a mount; unmount and commit: onnxfs umount --commit {}", path, mount_point);
    fail(EISDIR, "{} is a mount; unmount it first: onnxfs umount {}; onnxfs {} {}", path, mount_point, command,
         shown->status["model"].get<std::string>());
  }
  if (files::is_directory(path, ignored)) fail(EISDIR, "{} is a folder, not a model's file", path);
}

Subject find_subject(const std::string& path, const std::string& sidecar) {
  std::string model = path, edits = require_edits_in(sidecar);
  if (const auto shown = find_shown(path)) {
    if (shown->status.is_null()) {
      fail(ENOTCONN, "the process that served the mount at {} has ended; run onnxfs umount {}",
           shown->mount_point.string(), shown->mount_point.string());
    }
    if (shown->below == "." && !is_of_model(shown->status)) {
      fail(EINVAL, "the mount at {} is not one of a single model; ask for a model by its path",
           shown->mount_point.string());
    }
    std::error_code error;
    if (const auto found = on_disk(*shown); found && files::is_regular_file(*found, error)) model = *found;
    if (shown->below == "." && edits.empty()) edits = shown->status["sidecar"].get<std::string>();
  }
  std::error_code error;
  if (files::is_directory(model, error)) {
    fail(EISDIR, "{} is a folder: neither a model's file nor a folder that a model is mounted at", path);
  }
  return {files::absolute(model), files::absolute(edits.empty() ? sidecar_path(model) : edits)};
}

}  // namespace onnxfs
