#include "fs/interruption.h"

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

constexpr std::array signals{SIGINT, SIGTERM};

// The only thing that a handler may touch.
volatile sig_atomic_t caught = 0;

void remember(int signal) { caught = signal; }

}  // namespace

Interruption::Interruption() {
  caught = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &before_[i]);
}

Interruption::~Interruption() {
  for (size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
}

void Interruption::check() const {
  if (caught != 0) fail(EINTR, "stopped; the model and its edits are as they were");
}

}  // namespace onnxfs
