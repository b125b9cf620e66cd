// Signals that come while files are written.
#include "fs/interruption.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

void (*handler_of(int signal))(int) {
  struct sigaction action;
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

// How a process ends that does this; its standard error is of no interest.
template <typename Work>
int status_after(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    work();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(Interruption, ProcessThatStoppedEndsByTheSignal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = status_after([signal] {
      ::signal(signal, SIG_DFL);
      const auto error = testing::caught([signal] {
        const Interruption interruption;
        ::raise(signal);
        interruption.check();
      });
      ::_exit(error.code == 0 ? 1 : 2);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << signal;
    // One that came too late to stop anything changes nothing.
    EXPECT_EQ(status_after([signal] {
                const Interruption interruption;
                ::raise(signal);
              }),
              0);
  }
}

TEST(Interruption, SignalsThatWereIgnoredStaySo) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = ::signal(signal, SIG_IGN);
    {
      const Interruption interruption;
      EXPECT_EQ(handler_of(signal), SIG_IGN);
      ::raise(signal);
      interruption.check();
    }
    EXPECT_EQ(handler_of(signal), SIG_IGN);
    ::signal(signal, before);
  }
}

TEST(Interruption, WritesThatASignalWouldEndFail) {
  const auto pipe_before = ::signal(SIGPIPE, SIG_DFL), size_before = ::signal(SIGXFSZ, SIG_DFL);
  {
    const Interruption interruption;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    ::close(ends[1]);
    EXPECT_EQ(handler_of(SIGXFSZ), SIG_IGN);
    interruption.check();
  }
  EXPECT_EQ(handler_of(SIGPIPE), SIG_DFL);
  EXPECT_EQ(handler_of(SIGXFSZ), SIG_DFL);
  ::signal(SIGPIPE, pipe_before);
  ::signal(SIGXFSZ, size_before);
}

}  // namespace
}  // namespace onnxfs
