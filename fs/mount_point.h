#pragma once

#include <string>

namespace onnxfs {

// The folder that a model is mounted at. Made when it is missing, and then removed again at the end.
//
// Owned by the process that serves the mount; `release` leaves the folder to another owner, as a parent does.
class MountPoint {
 public:
  // Heals a mount that a dead onnxfs left there. Throws Error with a sentence: EBUSY when a live one is there, ENOTDIR,
  // ENOENT when the folder around it is missing, or what the system says.
  explicit MountPoint(const std::string& path);
  MountPoint(const MountPoint&) = delete;
  MountPoint& operator=(const MountPoint&) = delete;
  ~MountPoint();

  const std::string& path() const noexcept { return path_; }  // absolute
  void release() noexcept { made_ = false; }

 private:
  std::string path_;
  bool made_ = false;
};

// A mount of ours, as the mount table has it.
struct MountedModel {
  std::string mount_point;
  std::string device;  // "0:52"
};

// Whether an onnxfs, dead or alive, is mounted at an absolute path; `found` then says which.
bool find_mounted(const std::string& path, MountedModel& found);

// Unmounts `path`. Lazily: at once out of everybody's sight, while files that are open go on working until they are
// closed. Without root's rights fusermount3 does it. Throws Error: EBUSY when in use, EPERM, EINVAL when nothing is
// mounted there.
void unmount(const std::string& path, bool lazily);

// An absolute path for one that may not exist, without resolving its last component, which may be a dead mount.
std::string absolute_path(const std::string& path);

}  // namespace onnxfs
