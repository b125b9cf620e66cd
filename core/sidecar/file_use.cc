#include "core/sidecar/file_use.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

namespace filesystem = std::filesystem;

bool is_same_file(const struct stat& status, const FileIdentity& file) {
  return status.st_dev == file.device && status.st_ino == file.inode;
}

// Of a path that was not followed.
std::string obstacle_at(const std::string& path, const FileIdentity& file) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return "does not lie in the model's folder";
  if (S_ISLNK(status.st_mode)) return "is reached by a symbolic link";
  if (!is_same_file(status, file)) return "does not lie in the model's folder";
  if (status.st_nlink > 1) return fmt::format("has {} names (hard links)", status.st_nlink);
  return {};
}

// The model's own file among them.
std::vector<std::pair<dev_t, ino_t>> files_of(const std::string& path) {
  std::vector<std::pair<dev_t, ino_t>> result;
  try {
    const auto model = Model::open(path);
    result.emplace_back(model->file()->identity().device, model->file()->identity().inode);
    for (const DataFile& file : model->catalog().data_files()) {
      if (file.source) result.emplace_back(file.source->identity().device, file.source->identity().inode);
    }
  } catch (const Error&) {
    return {};  // what cannot be read as a model uses nothing
  }
  return result;
}

}  // namespace

FileUse::FileUse(std::string model_path) : model_path_(std::move(model_path)) {}

std::string FileUse::obstacle_of(const std::string& location, const FileIdentity& file) {
  const filesystem::path folder = model_path_.parent_path();
  filesystem::path path = folder;
  for (const auto& part : filesystem::path(location).parent_path()) {
    path /= part;
    struct stat status;
    if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) return "is reached by a symbolic link";
  }
  if (std::string obstacle = obstacle_at(folder / location, file); !obstacle.empty()) return obstacle;
  std::string user = other_user(file, folder);
  if (user.empty() && path != folder) user = other_user(file, path);
  return user.empty() ? user : fmt::format("is used by {} too", user);
}

std::string FileUse::obstacle_of_model(const FileIdentity& file) {
  if (std::string obstacle = obstacle_at(model_path_, file); !obstacle.empty()) return obstacle;
  const std::string user = other_user(file, model_path_.parent_path());
  return user.empty() ? user : fmt::format("holds data of {}", user);
}

std::string FileUse::other_user(const FileIdentity& file, const std::string& folder) {
  for (const OtherModel& other : models_in(folder)) {
    const auto own = std::pair(file.device, file.inode);
    if (std::ranges::find(other.files, own) != other.files.end()) return other.path;
  }
  return {};
}

const std::vector<FileUse::OtherModel>& FileUse::models_in(const std::string& folder) {
  for (const auto& [known, models] : folders_) {
    if (known == folder) return models;
  }
  std::vector<OtherModel> models;
  std::error_code ignored;
  for (const auto& entry : filesystem::directory_iterator(folder, ignored)) {
    const bool is_model = entry.path().extension() == ".onnx" && entry.is_regular_file(ignored);
    if (!is_model || filesystem::equivalent(entry.path(), model_path_, ignored)) continue;  // a link to it is no other
    models.push_back({entry.path(), files_of(entry.path())});
  }
  return folders_.emplace_back(folder, std::move(models)).second;
}

bool is_reached_from(const std::string& folder, const std::string& location, const FileIdentity& file) {
  DataFiles files(folder, "");
  const std::shared_ptr<const FileSource> source = files.files()[files.open(location)].source;
  return source != nullptr && source->identity().device == file.device && source->identity().inode == file.inode;
}

}  // namespace onnxfs
