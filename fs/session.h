#pragma once

#include <string>

#include "fs/filesystem.h"
#include "fs/mount_options.h"
#include "fs/mount_point.h"

namespace onnxfs {

// A FUSE session over a file system: mounted when it is made, unmounted when it is gone.
//
// SIGTERM, SIGINT and SIGHUP unmount lazily: the mount is out of sight at once, files that are open are served until
// they are closed, then `serve` returns. A second one ends the process at once.
class Session {
 public:
  // Mounts. `source` is what the mount table shows. Throws Error when the kernel or fusermount3 refuses.
  Session(Filesystem& filesystem, const MountPoint& mount_point, const MountOptions& options,
          const std::string& source);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Serves requests, from threads that it starts, until the mount is gone; then every change is flushed. `on_ready` is
  // called when the kernel's first request is answered. False when serving ended for another reason than the unmount.
  bool serve(std::function<void()> on_ready);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace onnxfs
