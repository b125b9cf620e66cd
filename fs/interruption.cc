#include "fs/interruption.h"

#include <cerrno>
#include <cstdio>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

constexpr const char* stopped = "stopped; the model and its edits are as they were";

// The only thing that a handler may touch.
volatile sig_atomic_t caught = 0;

void remember(int signal) { caught = signal; }

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  return action;
}

}  // namespace

Interruption::Interruption() {
  caught = 0;
  const struct sigaction ignore = action_of(SIG_IGN), remembering = action_of(remember);
  for (size_t i = 0; i < ignored_signals.size(); ++i) ::sigaction(ignored_signals[i], &ignore, &before_ignored_[i]);
  for (size_t i = 0; i < caught_signals.size(); ++i) {
    ::sigaction(caught_signals[i], nullptr, &before_caught_[i]);
    const bool is_ignored = (before_caught_[i].sa_flags & SA_SIGINFO) == 0 && before_caught_[i].sa_handler == SIG_IGN;
    if (!is_ignored) ::sigaction(caught_signals[i], &remembering, nullptr);
  }
}

Interruption::~Interruption() {
  const int signal = caught;
  for (size_t i = 0; i < caught_signals.size(); ++i) ::sigaction(caught_signals[i], &before_caught_[i], nullptr);
  if (has_stopped_) {
    std::fprintf(stderr, "onnxfs: %s\n", stopped);
    ::raise(signal);  // comes back only if its handler, which was there before, does
  }
  for (size_t i = 0; i < ignored_signals.size(); ++i) ::sigaction(ignored_signals[i], &before_ignored_[i], nullptr);
}

void Interruption::check() const {
  if (caught == 0) return;
  has_stopped_ = true;
  fail(EINTR, "{}", stopped);
}

}  // namespace onnxfs
