#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "core/bytes/mutex.h"

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
      const MutexLock lock(mutex_);
      ending_ = true;
    }
    asked_or_ending_.notify_one();
    thread_.join();
  }

  void ask() {
    {
      const MutexLock lock(mutex_);
      if (asked_) return;
      asked_ = true;
    }
    asked_or_ending_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      {
        const MutexLock lock(mutex_);
        const auto begin = std::chrono::steady_clock::now();
        while (!asked_ && !ending_) {
          if (!interval_) asked_or_ending_.wait(mutex_);
          else if (!asked_or_ending_.wait_until(mutex_, begin + *interval_)) break;
        }
        if (ending_) return;
        asked_ = false;
      }
      work_();
    }
  }

  std::function<void()> work_;
  const std::optional<std::chrono::milliseconds> interval_;
  Mutex mutex_;
  Condition asked_or_ending_;
  bool asked_ ONNXFS_GUARDED_BY(mutex_) = false;
  bool ending_ ONNXFS_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, since it uses the others
};

}  // namespace onnxfs
