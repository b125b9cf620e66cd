#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace onnxfs {

// Work that is done in a thread of its own when it is asked for: once for all that asked since it last began. What the
// work throws ends the process, so it throws nothing. Any number of threads may ask.
class BackgroundTask {
 public:
  explicit BackgroundTask(std::function<void()> work) : work_(std::move(work)), thread_([this] { run(); }) {}
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Waits for what is being done; what was asked for since is not done.
  ~BackgroundTask() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    asked_or_ending_.notify_one();
    thread_.join();
  }

  void ask() {
    {
      const std::lock_guard lock(mutex_);
      if (asked_) return;
      asked_ = true;
    }
    asked_or_ending_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        asked_or_ending_.wait(lock, [this] { return asked_ || ending_; });
        if (ending_) return;
        asked_ = false;
      }
      work_();
    }
  }

  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable asked_or_ending_;
  bool asked_ = false;
  bool ending_ = false;
  std::thread thread_;  // last, since it uses the others
};

}  // namespace onnxfs
