#pragma once

#include <cstdint>
#include <optional>

#include "core/bytes/mutex.h"
#include "core/bytes/rope.h"

namespace onnxfs {

// Hashes the bytes of the model that writes take the place of. Who writes on from where the last write ended will
// likely do so again, and what the next write would replace can be hashed while its writer makes it: reading and
// hashing are a sixth of the time that a large write takes.
//
// Any number of threads may use one, for any tensors; it looks ahead of one writer at a time. The base is immutable,
// so that a hash is as good early as late: when the file changes all the same, what reads it next fails.
class BaseHasher {
 public:
  // The XXH3-64 of a range of a tensor's payload in the base; what reading it throws.
  uint64_t hash(uint32_t tensor, const Rope& base, uint64_t offset, uint64_t length);

  // Hashes what is likely asked for next, if anything is: for a thread that has nothing else to do, before that
  // happens. Of a few MiB at most.
  void look_ahead() noexcept;

 private:
  struct Write {
    uint32_t tensor = 0;
    uint64_t offset = 0;
    uint64_t length = 0;

    bool operator==(const Write&) const = default;
  };
  enum class State : uint8_t { unlikely, likely, being_hashed, hashed };

  std::optional<uint64_t> hashed_early(const Write& write);
  void expect_after(const Write& write, const Rope& base);

  Mutex mutex_;
  Condition no_longer_hashed_;
  Write last_ ONNXFS_GUARDED_BY(mutex_);
  Write next_ ONNXFS_GUARDED_BY(mutex_);
  State state_ ONNXFS_GUARDED_BY(mutex_) = State::unlikely;  // that the next one comes
  Rope next_base_ ONNXFS_GUARDED_BY(mutex_);
  uint64_t next_hash_ ONNXFS_GUARDED_BY(mutex_) = 0;
};

}  // namespace onnxfs
