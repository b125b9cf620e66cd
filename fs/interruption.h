#pragma once

#include <signal.h>

#include <array>

namespace onnxfs {

// While one exists, SIGINT and SIGTERM do not end the process but are remembered, for a work that has things to tidy
// up when it is stopped. One at a time in a process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Throws Error(EINTR) once one came.
  void check() const;

 private:
  std::array<struct sigaction, 2> before_;
};

}  // namespace onnxfs
