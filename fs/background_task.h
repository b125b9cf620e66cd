#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace onnxfs {

// Work that is done in a thread of its own when it is asked for: once for all that asked since it last began; and, if
// it has an interval, when nobody has asked for so long. What the work throws ends the process, so it throws nothing.
// Any number of threads may ask.
class BackgroundTask {
 public:
  explicit BackgroundTask(std::function<void()> work, std::optional<std::chrono::milliseconds> interval = std::nullopt)
      : work_(std::move(work)), interval_(interval), thread_([this] { run(); }) {}
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
        const auto is_time = [this] { return asked_ || ending_; };
        if (interval_) asked_or_ending_.wait_for(lock, *interval_, is_time);
        else asked_or_ending_.wait(lock, is_time);
        if (ending_) return;
        asked_ = false;
      }
      work_();
    }
  }

  std::function<void()> work_;
  const std::optional<std::chrono::milliseconds> interval_;
  std::mutex mutex_;
  std::condition_variable asked_or_ending_;
  bool asked_ = false;
  bool ending_ = false;
  std::thread thread_;  // last, since it uses the others
};

}  // namespace onnxfs
