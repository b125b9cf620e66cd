#include "core/bytes/workers.h"

#include <gtest/gtest.h>

#include "core/analysis/statistics.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

TEST(Workers, DoEachPieceOnce) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Workers workers(threads);
    for (const size_t count : {0u, 1u, 2u, 100u}) {
      std::vector<std::atomic<int>> done(count);
      workers.run(count, [&](size_t index, Scratch&) { ++done[index]; });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Workers, ThrowWhatAPieceThrewAndWorkOn) {
  for (const unsigned threads : {1u, 3u}) {
    Workers workers(threads);
    const auto failing = [](size_t index, Scratch&) {
      if (index == 7) fail(EIO, "piece {}", index);
    };
    EXPECT_ERROR(workers.run(50, failing), EIO, "piece 7");
    std::atomic<int> done = 0;
    workers.run(50, [&](size_t, Scratch&) { ++done; });
    EXPECT_EQ(done, 50);
  }
}

TEST(Workers, ProgressIsToldToTheOwnersThreadOnly) {
  Workers workers(3);
  const auto owner = std::this_thread::get_id();
  uint64_t told = 0;
  workers.on_progress = [&](uint64_t bytes) {
    EXPECT_EQ(std::this_thread::get_id(), owner);
    EXPECT_GT(bytes, told);
    told = bytes;
  };
  workers.run(100, [&](size_t, Scratch&) { workers.advance(10); });
  workers.advance(1);
  EXPECT_EQ(told, 1001u);
}

TEST(Scratch, KeepsWhatItHas) {
  Scratch scratch;
  std::byte* bytes = scratch.bytes(2, 100);
  EXPECT_EQ(scratch.bytes(2, 50), bytes);
  EXPECT_NE(scratch.bytes(0, 100), bytes);
  EXPECT_NE(scratch.bytes(2, 1000), nullptr);
}

// Shares follow from the tensor, so results do not depend on who takes them.
TEST(Statistics, AreTheSameForAnyNumberOfThreads) {
  std::string bytes(9 << 20, '\0');
  uint64_t state = 1;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 6364136223846793005 + 1442695040888963407) >> 56);
  const Rope payload = Rope::of(bytes);
  for (const int32_t type : {1, 7, 10, 22}) {
    const DataType* data_type = find_data_type(type);
    const uint64_t elements = bytes.size() * 8 / data_type->bits;
    std::vector<Statistics> results;
    for (const unsigned threads : {1u, 2u, 7u}) {
      Workers workers(threads);
      results.push_back(statistics_of(payload, data_type, elements, workers));
    }
    for (const Statistics& result : results) {
      EXPECT_EQ(result.numbers, elements);
      EXPECT_EQ(result.moments.mean(), results[0].moments.mean());
      EXPECT_EQ(result.moments.deviation(), results[0].moments.deviation());
      EXPECT_EQ(result.histogram.bins(64).counts, results[0].histogram.bins(64).counts);
    }
  }
}

}  // namespace
}  // namespace onnxfs
