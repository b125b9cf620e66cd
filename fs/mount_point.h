#pragma once

#include <optional>
#include <string>

#include "core/bytes/mount_table.h"
#include "core/bytes/unique_fd.h"

namespace onnxfs {

// The folder that a model is mounted at. Made when it is missing, and then removed again at the end.
//
// A process that will remove it holds a lock on it (flock), so that one which mounts there a moment after the unmount
// waits for the end of that, and makes the folder anew.
class MountPoint {
 public:
  // Heals a mount that a dead onnxfs left there. Throws Error with a sentence: EBUSY when a live one is there, ENOTDIR,
  // ENOENT when the folder around it is missing, or what the system says.
  explicit MountPoint(const std::string& path);
  MountPoint(const MountPoint&) = delete;
  MountPoint& operator=(const MountPoint&) = delete;
  ~MountPoint();

  const std::string& path() const noexcept { return path_; }  // absolute

 private:
  bool make();
  bool make_unlocked();
  bool take();

  std::string path_;
  UniqueFd made_;  // the folder, locked, if it was made here
};

// The absolute path without links. What cannot be examined (it does not exist, or is a dead mount) has none in its
// folder's path.
std::string absolute_path(const std::string& path);

// The onnxfs, dead or alive, that is mounted at a path; nothing when there is none, or another file system over it.
std::optional<MountTableEntry> find_mounted(const std::string& path);

// Unmounts `path`. Lazily: at once out of everybody's sight, while files that are open go on working until they are
// closed. Without root's rights fusermount3 does it. Throws Error: EBUSY when in use, EPERM, EINVAL when nothing is
// mounted there.
void unmount(const std::string& path, bool lazily);

}  // namespace onnxfs
