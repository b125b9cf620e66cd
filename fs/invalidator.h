#pragma once

#include <fuse_lowlevel.h>

#include <mutex>
#include <unordered_set>

#include "fs/background_task.h"

namespace onnxfs {

// Tells the kernel that sizes and times which it has cached are no longer true. From a thread of its own, as no request
// may wait for the kernel. Any number of threads may use one.
//
// Never of cached pages: the kernel would wait for pages that requests hold, and if this process were killed meanwhile,
// the thread that waits would keep the connection open, so that nobody would ever answer those requests. Nor is it
// needed: an inode's pages are dropped when it is opened next.
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
    constexpr off_t attributes_alone = -1;
    // ENOENT: it is not cached.
    for (const uint64_t inode : inodes) fuse_lowlevel_notify_inval_inode(session_, inode, attributes_alone, 0);
  }

  fuse_session* session_;
  std::mutex mutex_;
  std::unordered_set<uint64_t> inodes_;
  BackgroundTask task_;  // last, since it uses the others
};

}  // namespace onnxfs
