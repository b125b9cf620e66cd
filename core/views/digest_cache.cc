#include "core/views/digest_cache.h"

namespace onnxfs {

std::optional<std::string> DigestCache::find(uint32_t tensor, uint64_t version) const {
  const MutexLock lock(mutex_);
  const auto entry = entries_.find(tensor);
  if (entry == entries_.end() || !entry->second.has(version)) return std::nullopt;
  return entry->second.digest;
}

std::string DigestCache::get(uint32_t tensor, uint64_t version, const Compute& compute) {
  MutexLock lock(mutex_);
  Entry& entry = entries_[tensor];  // stays where it is, and is never taken away
  while (entry.is_computing) changed_.wait(mutex_);
  if (entry.has(version)) return entry.digest;

  entry.is_computing = true;
  lock.unlock();
  std::string digest;
  try {
    digest = compute();
  } catch (...) {
    lock.lock();
    entry.is_computing = false;
    changed_.notify_all();
    throw;
  }
  lock.lock();
  entry.is_computing = false;
  changed_.notify_all();
  entry.version = version;
  entry.digest = digest;
  return digest;
}

}  // namespace onnxfs
