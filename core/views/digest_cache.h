#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/bytes/mutex.h"

namespace onnxfs {

// The hashes of tensors, each kept for the version of its edits that it was computed of. Any number of threads may use
// one; what several ask for at once is computed by one of them, and the others wait.
class DigestCache {
 public:
  using Compute = std::function<std::string()>;

  // What it has of this version, if anything. Never waits for it to be computed.
  std::optional<std::string> find(uint32_t tensor, uint64_t version) const;

  // What `compute` gives, or gave for this version. What it throws is thrown, and not kept.
  std::string get(uint32_t tensor, uint64_t version, const Compute& compute);

 private:
  struct Entry {
    uint64_t version = 0;
    bool is_computing = false;
    std::string digest;  // "" while there is none

    bool has(uint64_t wanted) const noexcept { return !digest.empty() && version == wanted; }
  };

  mutable Mutex mutex_;
  Condition changed_;
  std::unordered_map<uint32_t, Entry> entries_ ONNXFS_GUARDED_BY(mutex_);
};

}  // namespace onnxfs
