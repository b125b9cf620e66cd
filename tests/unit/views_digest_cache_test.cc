#include "core/views/digest_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

TEST(DigestCache, ComputesOnceAVersion) {
  DigestCache cache;
  int computed = 0;
  const auto compute = [&computed] { return std::to_string(++computed); };
  EXPECT_EQ(cache.get(1, 0, compute), "1");
  EXPECT_EQ(cache.get(1, 0, compute), "1");
  EXPECT_EQ(cache.get(2, 0, compute), "2");
  EXPECT_EQ(cache.get(1, 1, compute), "3");
  EXPECT_EQ(cache.get(1, 1, compute), "3");
  EXPECT_EQ(cache.find(1, 1), "3");
  EXPECT_EQ(cache.find(1, 0), std::nullopt);
  EXPECT_EQ(cache.find(3, 0), std::nullopt);
}

TEST(DigestCache, KeepsNoFailure) {
  DigestCache cache;
  EXPECT_ERROR(cache.get(1, 0, []() -> std::string { fail(EIO, "not now"); }), EIO, "not now");
  EXPECT_EQ(cache.find(1, 0), std::nullopt);
  EXPECT_EQ(cache.get(1, 0, [] { return "now"; }), "now");
}

TEST(DigestCache, OneOfManyThreadsComputes) {
  DigestCache cache;
  std::atomic<int> computed = 0;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto compute = [&computed] {
        ++computed;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return "digest";
      };
      right += cache.get(7, 3, compute) == "digest";
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(right, 8);
}

// Those that waited for one that failed try themselves.
TEST(DigestCache, AFailureIsItsOwnThreadsAlone) {
  DigestCache cache;
  std::atomic<int> computed = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        cache.get(7, 3, [&computed]() -> std::string {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          if (computed++ == 0) fail(EIO, "the first");
          return "digest";
        });
      } catch (const Error&) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(computed, 2);
}

}  // namespace
}  // namespace onnxfs
