#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>

#include "core/bytes/mutex.h"

namespace onnxfs {

// Inodes that were changed by other ways than through themselves. What the kernel has cached of one is not to be kept
// when it is opened next; and the kernel is to be told once, and again only after it may have read the inode anew. Any
// number of threads may use one.
class StaleInodes {
 public:
  // Whether the kernel is to be told.
  bool mark(uint64_t inode) {
    const MutexLock lock(mutex_);
    bool& told = told_[inode];
    const bool is_to_be_told = !told;
    told = true;
    count_.store(told_.size(), std::memory_order_release);
    return is_to_be_told;
  }

  // The kernel reads it, through what was opened before.
  void note_read(uint64_t inode) {
    if (count_.load(std::memory_order_acquire) == 0) return;
    const MutexLock lock(mutex_);
    if (const auto marked = told_.find(inode); marked != told_.end()) marked->second = false;
  }

  // It is opened. Whether it was marked; it is not any more.
  bool take(uint64_t inode) {
    if (count_.load(std::memory_order_acquire) == 0) return false;
    const MutexLock lock(mutex_);
    const bool was_marked = told_.erase(inode) != 0;
    count_.store(told_.size(), std::memory_order_release);
    return was_marked;
  }

 private:
  Mutex mutex_;
  std::unordered_map<uint64_t, bool> told_ ONNXFS_GUARDED_BY(mutex_);  // the marked ones: whether the kernel knows
  std::atomic<size_t> count_ = 0;  // so that nobody waits to learn that there is none
};

}  // namespace onnxfs
