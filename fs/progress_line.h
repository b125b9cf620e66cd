#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace onnxfs {

// How far a long work has come, as a line on a terminal that is drawn over itself: on standard error, from a second
// after the begin on. Draws nothing where standard error is no terminal. One thread.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what) : what_(std::move(what)) {}
  ~ProgressLine();  // wipes it
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(uint64_t done, uint64_t total);

  // Draws a text instead, of which a terminal's line has room for the beginning.
  void say(const std::string& text);

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  // Before something else is printed on the terminal.
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;

  bool is_time();

  std::string what_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;
  bool is_drawn_ = false;
};

// "committing: 1.2 of 6.0 GB, 850 MB/s, 5 s left".
std::string progress_text(const std::string& what, uint64_t done, uint64_t total, double seconds);

}  // namespace onnxfs
