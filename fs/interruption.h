#pragma once

#include <signal.h>

#include <array>

namespace onnxfs {

// While one exists, SIGINT, SIGTERM and SIGHUP do not end the process but are remembered, for a work that has things to
// tidy up when it is stopped; and what would end it in the middle of a write, SIGXFSZ and SIGPIPE, is an error of that
// write. A signal that was ignored before, as nohup has it, stays so.
//
// Where check() threw, the process ends by the signal when the object does, so that a shell sees what happened. It has
// to be made before all that is to be tidied up. One at a time in a process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Throws Error(EINTR) once one came.
  void check() const;

 private:
  static constexpr std::array caught_signals{SIGINT, SIGTERM, SIGHUP};
  static constexpr std::array ignored_signals{SIGXFSZ, SIGPIPE};

  std::array<struct sigaction, caught_signals.size()> before_caught_;
  std::array<struct sigaction, ignored_signals.size()> before_ignored_;
  mutable bool has_stopped_ = false;
};

}  // namespace onnxfs
