#pragma once

#include <fuse_lowlevel.h>

#include <unordered_set>

#include "core/bytes/mutex.h"
#include "fs/background_task.h"

namespace onnxfs {

// Has the kernel ask for the size and the times of an inode before it believes them again; its cached pages stay. Waits
// for nobody while the inode is held, as by an opening.
inline void forget_attributes(fuse_session* session, uint64_t inode) {
  constexpr off_t attributes_alone = -1;
  fuse_lowlevel_notify_inval_inode(session, inode, attributes_alone, 0);  // ENOENT: it is not cached
}

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
      const MutexLock lock(mutex_);
      inodes_.insert(inode);
    }
    task_.ask();
  }

 private:
  void run() {
    std::unordered_set<uint64_t> inodes;
    {
      const MutexLock lock(mutex_);
      inodes.swap(inodes_);
    }
    for (const uint64_t inode : inodes) forget_attributes(session_, inode);
  }

  fuse_session* session_;
  Mutex mutex_;
  std::unordered_set<uint64_t> inodes_ ONNXFS_GUARDED_BY(mutex_);
  BackgroundTask task_;  // last, since it uses the others
};

}  // namespace onnxfs
