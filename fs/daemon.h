#pragma once

#include "core/bytes/unique_fd.h"

namespace onnxfs {

// Goes into the background with a parent that knows the truth: it stays until the child says that it is ready, and
// ends with the child's success or failure.
//
//     Daemon daemon = Daemon::start();  // from here on we are the child; no thread may exist before
//     …
//     daemon.ready();                   // from any thread: the parent exits with 0
//
// When the child ends without a word, the parent says so and exits with 1.
class Daemon {
 public:
  static Daemon start();
  static Daemon foreground() { return {}; }  // nobody waits; `ready` does nothing

  void ready() noexcept;

 private:
  Daemon() = default;

  UniqueFd parent_;
};

}  // namespace onnxfs
