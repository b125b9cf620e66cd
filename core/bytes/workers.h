#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/bytes/mutex.h"

namespace onnxfs {

// Memory that a thread keeps from one piece of work to the next: allocated anew each time, large buffers would come
// from the kernel, page by page. What is in it is undefined.
class Scratch {
 public:
  // Each slot is a buffer of its own, aligned for any type; it is valid until more is asked of it.
  std::byte* bytes(size_t slot, size_t size) {
    if (slot >= buffers_.size()) buffers_.resize(slot + 1);
    Buffer& buffer = buffers_[slot];
    if (buffer.size < size) buffer = {std::make_unique_for_overwrite<std::byte[]>(size), size};
    return buffer.bytes.get();
  }

 private:
  struct Buffer {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };
  std::vector<Buffer> buffers_;
};

// A few threads, the caller's among them, that share out pieces of one work after another. Used by one thread.
class Workers {
 public:
  // As many as this process may use.
  static size_t processors();

  explicit Workers(size_t threads = processors());
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  using Work = std::function<void(size_t index, Scratch& scratch)>;

  // Calls work(0, …) … work(count - 1, …), each once, in any order and by any of the threads, and waits for all. After
  // one has thrown, those that are not begun are left out, and what it threw is thrown here.
  void run(size_t count, const Work& work);

  // Adds to how many bytes have been worked through, from any thread. Those of the caller's then call `on_progress`.
  void advance(uint64_t bytes);
  std::function<void(uint64_t bytes)> on_progress;

 private:
  void serve();
  void take_part(Scratch& scratch) ONNXFS_REQUIRES(mutex_);

  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<uint64_t> advanced_ = 0;

  Mutex mutex_;
  Condition begun_, done_;
  const Work* work_ ONNXFS_GUARDED_BY(mutex_) = nullptr;  // stays while any part of it runs
  size_t next_ ONNXFS_GUARDED_BY(mutex_) = 0;
  size_t count_ ONNXFS_GUARDED_BY(mutex_) = 0;
  size_t running_ ONNXFS_GUARDED_BY(mutex_) = 0;
  std::exception_ptr failure_ ONNXFS_GUARDED_BY(mutex_);
  bool is_ending_ ONNXFS_GUARDED_BY(mutex_) = false;

  Scratch own_scratch_;
  std::vector<std::thread> threads_;
};

}  // namespace onnxfs
