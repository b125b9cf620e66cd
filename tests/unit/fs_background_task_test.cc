#include "fs/background_task.h"

#include <gtest/gtest.h>

#include <atomic>

namespace onnxfs {
namespace {

using namespace std::chrono_literals;

template <typename Condition>
bool comes_true(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

TEST(BackgroundTaskTest, WorksWhenAsked) {
  std::atomic<int> done = 0;
  BackgroundTask task([&] { ++done; });
  EXPECT_EQ(done, 0);
  task.ask();
  EXPECT_TRUE(comes_true([&] { return done == 1; }));
  task.ask();
  EXPECT_TRUE(comes_true([&] { return done == 2; }));
}

TEST(BackgroundTaskTest, WorksNowAndThenWithAnInterval) {
  std::atomic<int> done = 0;
  {
    const BackgroundTask task([&] { ++done; }, 1ms);
    EXPECT_TRUE(comes_true([&] { return done >= 3; }));
  }
  const int before = done;
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(done, before) << "it has ended";
}

TEST(BackgroundTaskTest, DoesNotWaitForItsIntervalToBeAskedOrToEnd) {
  std::atomic<int> done = 0;
  BackgroundTask task([&] { ++done; }, std::chrono::hours(1));
  task.ask();
  EXPECT_TRUE(comes_true([&] { return done == 1; }));
}

}  // namespace
}  // namespace onnxfs
