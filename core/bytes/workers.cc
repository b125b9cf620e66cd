#include "core/bytes/workers.h"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace onnxfs {

size_t Workers::processors() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<size_t>(CPU_COUNT(&allowed));
  return std::max(1U, std::thread::hardware_concurrency());
}

Workers::Workers(size_t threads) {
  for (size_t i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Workers::~Workers() {
  {
    const MutexLock lock(mutex_);
    is_ending_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::take_part(Scratch& scratch) {
  while (next_ < count_) {
    const size_t index = next_++;
    const Work& work = *work_;
    ++running_;
    mutex_.unlock();
    std::exception_ptr failure;
    try {
      work(index, scratch);
    } catch (...) {
      failure = std::current_exception();
    }
    mutex_.lock();
    --running_;
    if (!failure) continue;
    if (!failure_) failure_ = failure;
    next_ = count_;
  }
  if (running_ == 0) done_.notify_all();
}

void Workers::serve() {
  Scratch scratch;
  const MutexLock lock(mutex_);
  while (true) {
    while (!is_ending_ && next_ >= count_) begun_.wait(mutex_);
    if (is_ending_) return;
    take_part(scratch);
  }
}

void Workers::run(size_t count, const Work& work) {
  if (count == 1 || threads_.empty()) {
    for (size_t i = 0; i < count; ++i) work(i, own_scratch_);
    return;
  }
  const MutexLock lock(mutex_);
  work_ = &work;
  next_ = 0;
  count_ = count;
  begun_.notify_all();
  take_part(own_scratch_);
  while (running_ != 0) done_.wait(mutex_);
  work_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Workers::advance(uint64_t bytes) {
  const uint64_t all = advanced_ += bytes;
  if (on_progress && std::this_thread::get_id() == owner_) on_progress(all);
}

}  // namespace onnxfs
