#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <unordered_map>

#include "core/bytes/mutex.h"
#include "core/sidecar/sidecar.h"

namespace onnxfs {

// The content of a file while programs write another into it. It becomes the file's content when a descriptor is closed
// while it is right; when the last who has it open is gone without that, the file is as it was before. Until then those
// who write it see it, and all others see the file as it was: several may have begun to replace a file, and write one
// draft.
//
// Any number of threads may use one.
class Draft {
 public:
  // `most` bytes are let in, as the file cannot be larger. `dropped` is called when it ends without taking effect.
  Draft(std::shared_ptr<Stage> stage, uint64_t most, std::function<void()> dropped);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Rope content() const { return stage_->content(); }

  // False when it is finished, and nothing was done. EFBIG, and nothing of it is written; a draft in which a write was
  // refused does not take effect.
  bool write(uint64_t offset, std::span<const std::byte> bytes);
  bool resize(uint64_t size);

  // Begins it anew, as for a second O_TRUNC. False when it is finished.
  bool restart();

  // Calls `take_effect` with the content and, if that does not throw, is finished. EINVAL when a write was refused.
  void finish(const std::function<void(const Stage&)>& take_effect);

  bool finished() const noexcept { return finished_; }

 private:
  template <typename Change>
  bool change(uint64_t end, Change change);

  std::shared_ptr<Stage> stage_;
  uint64_t most_;
  std::function<void()> dropped_;
  Mutex changing_;
  bool refused_ ONNXFS_GUARDED_BY(changing_) = false;
  std::atomic<bool> finished_ = false;
};

// The drafts of a mount, by the inode of their file. Does not keep them alive: those who have the file open do. Any
// number of threads may use it.
class Drafts {
 public:
  // Null when there is none.
  std::shared_ptr<Draft> find(uint64_t inode) const;

  // The one that there is, or else what `make` makes.
  std::shared_ptr<Draft> find_or_make(uint64_t inode, const std::function<std::shared_ptr<Draft>()>& make);

  // Takes a draft that is finished or dropped off the list.
  void forget(uint64_t inode);

 private:
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, std::weak_ptr<Draft>> drafts_ ONNXFS_GUARDED_BY(mutex_);
  std::atomic<size_t> count_ = 0;  // so that nobody waits to learn that there is none
};

}  // namespace onnxfs
