#include "fs/draft.h"

#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/range.h"

namespace onnxfs {

Draft::Draft(std::shared_ptr<Stage> stage, uint64_t most, std::function<void()> dropped)
    : stage_(std::move(stage)), most_(most), dropped_(std::move(dropped)) {}

Draft::~Draft() {
  if (!finished_) dropped_();
}

// `end` is how large the content has to be let for a change.
template <typename Change>
bool Draft::change(uint64_t end, Change change) {
  const MutexLock lock(changing_);
  if (finished_) return false;
  if (end > most_) {
    refused_ = true;
    fail(EFBIG, "the file cannot be larger than {} bytes", most_);
  }
  try {
    change();
  } catch (...) {
    refused_ = true;
    throw;
  }
  return true;
}

bool Draft::write(uint64_t offset, std::span<const std::byte> bytes) {
  const uint64_t end = fits(offset, bytes.size(), most_) ? offset + bytes.size() : UINT64_MAX;
  return change(end, [&] { stage_->write(offset, bytes); });
}

bool Draft::resize(uint64_t size) {
  return change(size, [&] { stage_->resize(size); });
}

bool Draft::restart() {
  const MutexLock lock(changing_);
  if (finished_) return false;
  stage_->resize(0);
  refused_ = false;
  return true;
}

void Draft::finish(const std::function<void(const Stage&)>& take_effect) {
  const MutexLock lock(changing_);
  if (finished_) return;
  if (refused_) fail(EINVAL, "a write into the file was refused, so it stays as it was");
  take_effect(*stage_);
  finished_ = true;
}

std::shared_ptr<Draft> Drafts::find(uint64_t inode) const {
  if (count_.load(std::memory_order_acquire) == 0) return nullptr;
  const MutexLock lock(mutex_);
  const auto found = drafts_.find(inode);
  return found == drafts_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<Draft> Drafts::find_or_make(uint64_t inode, const std::function<std::shared_ptr<Draft>()>& make) {
  std::shared_ptr<Draft> draft;  // ends after the lock, as below
  const MutexLock lock(mutex_);
  if (const auto found = drafts_.find(inode); found != drafts_.end()) {
    draft = found->second.lock();
    if (draft != nullptr && !draft->finished()) return draft;
  }
  draft = make();
  drafts_.insert_or_assign(inode, draft);
  count_.store(drafts_.size(), std::memory_order_release);
  return draft;
}

void Drafts::forget(uint64_t inode) {
  std::shared_ptr<Draft> draft;  // ends after the lock, which its end would take
  const MutexLock lock(mutex_);
  const auto found = drafts_.find(inode);
  if (found == drafts_.end()) return;
  draft = found->second.lock();
  if (draft != nullptr && !draft->finished()) return;  // another has been begun since
  drafts_.erase(found);
  count_.store(drafts_.size(), std::memory_order_release);
}

}  // namespace onnxfs
