#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace onnxfs {

// Inodes that were changed by other ways than through themselves since they were last opened: what the kernel has
// cached of them is not to be kept at the next opening. Any number of threads may use one.
class StaleInodes {
 public:
  // Whether it was not marked before.
  bool mark(uint64_t inode) {
    const std::lock_guard lock(mutex_);
    const bool is_new = inodes_.insert(inode).second;
    count_.store(inodes_.size(), std::memory_order_release);
    return is_new;
  }

  // Whether it was marked; it is not any more.
  bool take(uint64_t inode) {
    if (count_.load(std::memory_order_acquire) == 0) return false;
    const std::lock_guard lock(mutex_);
    const bool was_marked = inodes_.erase(inode) != 0;
    count_.store(inodes_.size(), std::memory_order_release);
    return was_marked;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<uint64_t> inodes_;
  std::atomic<size_t> count_ = 0;
};

}  // namespace onnxfs
