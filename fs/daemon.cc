#include "fs/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

constexpr char ready_word = 'r';

[[noreturn]] void wait_for(pid_t child, const UniqueFd& pipe) {
  // The child's signals are not ours: a person who waits may give up.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char word = 0;
  ssize_t n;
  do n = ::read(pipe.get(), &word, 1);
  while (n < 0 && errno == EINTR);
  if (n == 1 && word == ready_word) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::fprintf(stderr, "onnxfs: the mount's process died of signal %d\n", WTERMSIG(status));
  else std::fprintf(stderr, "onnxfs: the mount's process ended before it answered; the system's log may say why\n");
  ::_exit(1);
}

}  // namespace

Daemon Daemon::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(errno, "cannot make a pipe: {}", describe_errno(errno));
  UniqueFd from_child(ends[0]), to_parent(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) fail(errno, "cannot go into the background: {}", describe_errno(errno));
  if (child > 0) {
    to_parent.reset();
    wait_for(child, from_child);
  }
  ::setsid();
  if (::chdir("/") != 0) fail(errno, "cannot leave the working directory: {}", describe_errno(errno));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), standard);
  Daemon daemon;
  daemon.parent_ = std::move(to_parent);
  return daemon;
}

void Daemon::ready() noexcept {
  if (!parent_) return;
  // A parent that was killed meanwhile is no reason to end.
  if (::write(parent_.get(), &ready_word, 1) < 0) spdlog::warn("the process that mounted did not wait");
  parent_.reset();
}

}  // namespace onnxfs
