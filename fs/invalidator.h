#pragma once

#include <fuse_lowlevel.h>

#include <mutex>
#include <unordered_set>

#include "fs/background_task.h"

namespace onnxfs {

// Tells the kernel what it has cached and is no longer true. From a thread of its own: the kernel may wait in it for
// pages that requests hold, so from a request it could wait for itself. Any number of threads may use one.
class Invalidator {
 public:
  explicit Invalidator(fuse_session* session) : session_(session), task_([this] { run(); }) {}

  void add(uint64_t inode) {
    {
      const std::lock_guard lock(mutex_);
      inodes_.insert(inode);
    }
    task_.ask();
  }

 private:
  void run() {
    std::unordered_set<uint64_t> inodes;
    {
      const std::lock_guard lock(mutex_);
      inodes.swap(inodes_);
    }
    for (const uint64_t inode : inodes) fuse_lowlevel_notify_inval_inode(session_, inode, 0, 0);  // ENOENT: not cached
  }

  fuse_session* session_;
  std::mutex mutex_;
  std::unordered_set<uint64_t> inodes_;
  BackgroundTask task_;  // last, since it uses the others
};

}  // namespace onnxfs
