#include "core/sidecar/base_hasher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/bytes/hash.h"

namespace onnxfs {

namespace {

// Shorter ones are not worth the trouble; longer ones nobody writes at once.
constexpr uint64_t shortest = 64 << 10, longest = 4 << 20;

}  // namespace

uint64_t BaseHasher::hash(uint32_t tensor, const Rope& base, uint64_t offset, uint64_t length) {
  const Write write{tensor, offset, length};
  const std::optional<uint64_t> early = hashed_early(write);
  expect_after(write, base);
  return early ? *early : xxh3(base, offset, length);
}

std::optional<uint64_t> BaseHasher::hashed_early(const Write& write) {
  const MutexLock lock(mutex_);
  if (next_ != write) return std::nullopt;
  while (state_ == State::being_hashed) no_longer_hashed_.wait(mutex_);
  if (next_ != write || state_ != State::hashed) return std::nullopt;
  return next_hash_;
}

void BaseHasher::expect_after(const Write& write, const Rope& base) {
  const MutexLock lock(mutex_);
  const Write before = std::exchange(last_, write);
  if (state_ == State::being_hashed) return;
  const uint64_t end = write.offset + write.length;
  const bool goes_on = before.tensor == write.tensor && before.offset + before.length == write.offset;
  const bool is_worth_it = write.length >= shortest && write.length <= longest && end < base.size();
  state_ = goes_on && is_worth_it ? State::likely : State::unlikely;
  if (state_ == State::unlikely) return;
  next_ = {write.tensor, end, std::min(write.length, base.size() - end)};
  next_base_ = base;
}

void BaseHasher::look_ahead() noexcept {
  MutexLock lock(mutex_);
  if (state_ != State::likely) return;
  state_ = State::being_hashed;
  const Write next = next_;
  const Rope base = std::exchange(next_base_, {});
  lock.unlock();
  std::optional<uint64_t> hash;
  try {
    hash = xxh3(base, next.offset, next.length);
  } catch (const std::exception&) {
    // The write will say what is wrong, if it comes.
  }
  lock.lock();
  next_hash_ = hash.value_or(0);
  state_ = hash ? State::hashed : State::unlikely;
  no_longer_hashed_.notify_all();
}

}  // namespace onnxfs
