#include "fs/model_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "core/bytes/error.h"
#include "core/bytes/unique_fd.h"
#include "fs/model_names.h"
#include "fs/mount_point.h"

namespace onnxfs {

namespace {

struct Members {
  std::vector<std::string> models;
  std::vector<std::string> folders;
  bool is_mounted = false;  // on the folder around
};

// `device` is that of the folder around; 0 for none, when links to the folder itself are followed.
Members members_of(const std::string& folder, dev_t& device) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (device != 0 ? O_NOFOLLOW : 0)));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0) fail(errno, "cannot open {}: {}", folder, describe_errno(errno));
  Members members;
  members.is_mounted = device != 0 && status.st_dev != device;
  device = status.st_dev;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::dup(fd.get())), &::closedir);
  if (!stream) fail(errno, "cannot list {}: {}", folder, describe_errno(errno));
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::fstatat(fd.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // it has just vanished
    if (S_ISDIR(status.st_mode)) {
      if (!is_sidecar_name(name)) members.folders.push_back(name);
    } else if (is_model_name(name) && (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))) {
      members.models.push_back(name);
    }
    errno = 0;
  }
  if (errno != 0) fail(errno, "cannot list {}: {}", folder, describe_errno(errno));
  std::ranges::sort(members.models);
  std::ranges::sort(members.folders);
  return members;
}

// A link that leads to no regular file is none of ours.
bool is_file(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? S_ISREG(status.st_mode) : errno != ENOENT && errno != ELOOP;
}

void walk(const std::string& folder, dev_t device, const ModelVisitor& visitor) {
  Members members;
  try {
    members = members_of(folder, device);
  } catch (const Error& error) {
    if (error.code() == ENOENT || error.code() == ENOTDIR) return;  // it vanished, or is another thing now
    return visitor.trouble(error.what());
  }
  if (members.is_mounted && find_mounted(folder)) return;
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  for (const std::string& name : members.models) {
    const std::string path = prefix + name;
    if (is_file(path)) visitor.model(path);
  }
  for (const std::string& name : members.folders) walk(prefix + name, device, visitor);
}

}  // namespace

void walk_models(const std::string& folder, const ModelVisitor& visitor) { walk(folder, 0, visitor); }

}  // namespace onnxfs
