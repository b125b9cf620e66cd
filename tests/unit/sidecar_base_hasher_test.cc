#include "core/sidecar/base_hasher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/bytes/hash.h"
#include "tests/unit/errors.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

constexpr uint64_t mib = 1 << 20;

std::string numbers(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 37 >> 5);
  return text;
}

struct Base {
  uint64_t right(uint64_t offset, uint64_t length) const {
    return xxh3(Rope::of(numbers(source->size())), offset, length);
  }

  static std::shared_ptr<const testing::PatchworkSource> make() {
    auto source = std::make_shared<testing::PatchworkSource>();
    source->text(numbers(4 * mib + 1000));
    return source;
  }

  std::shared_ptr<const testing::PatchworkSource> source = make();
  Rope rope = Rope::of(source);
};

TEST(BaseHasher, HashesWhatIsAskedFor) {
  const Base base;
  BaseHasher hasher;
  for (const auto& [offset, length] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, mib}, {mib, mib}, {3 * mib, mib}, {7, 0}, {7, 1}, {8, 100'000}, {100'008, 100'000}, {4 * mib, 1000}}) {
    EXPECT_EQ(hasher.hash(3, base.rope, offset, length), base.right(offset, length)) << offset;
    hasher.look_ahead();
  }
}

TEST(BaseHasher, ReadsNothingForTheNextOfSequentialWritesThatItLookedAheadOf) {
  const Base base;
  BaseHasher hasher;
  hasher.hash(3, base.rope, 0, mib);
  hasher.hash(3, base.rope, mib, mib);
  hasher.look_ahead();
  hasher.look_ahead();  // of the same, once
  EXPECT_EQ(base.source->bytes_read(), 3 * mib);
  EXPECT_EQ(hasher.hash(3, base.rope, 2 * mib, mib), base.right(2 * mib, mib));
  EXPECT_EQ(base.source->bytes_read(), 3 * mib);
}

TEST(BaseHasher, LooksAheadOfTheShortRestOfATensorAndNotPastItsEnd) {
  const Base base;
  BaseHasher hasher;
  hasher.hash(3, base.rope, 2 * mib, mib);
  hasher.hash(3, base.rope, 3 * mib, mib);
  hasher.look_ahead();
  EXPECT_EQ(base.source->bytes_read(), 2 * mib + 1000);
  EXPECT_EQ(hasher.hash(3, base.rope, 4 * mib, 1000), base.right(4 * mib, 1000));
  hasher.look_ahead();
  EXPECT_EQ(base.source->bytes_read(), 2 * mib + 1000);
}

TEST(BaseHasher, LooksAheadOfNothingButLargeSequentialWrites) {
  const Base base;
  BaseHasher hasher;
  hasher.look_ahead();
  for (const auto& [tensor, offset] : std::vector<std::pair<uint32_t, uint64_t>>{{1, 0}, {2, mib}, {2, 0}, {2, 0}}) {
    hasher.hash(tensor, base.rope, offset, mib);
    hasher.look_ahead();
  }
  for (uint64_t offset = 0; offset < 4000; offset += 1000) {
    hasher.hash(2, base.rope, offset, 1000);
    hasher.look_ahead();
  }
  EXPECT_EQ(base.source->bytes_read(), 4 * mib + 4000);
}

// The base of another tensor has other bytes at the place.
TEST(BaseHasher, DoesNotTakeAHashForThatOfAnotherTensor) {
  const Base base;
  BaseHasher hasher;
  hasher.hash(3, base.rope, 0, mib);
  hasher.hash(3, base.rope, mib, mib);
  hasher.look_ahead();
  const std::string others(3 * mib, 'x');
  EXPECT_EQ(hasher.hash(4, Rope::of(others), 2 * mib, mib), xxh3(Rope::of(others), 2 * mib, mib));
  EXPECT_EQ(hasher.hash(3, base.rope, 2 * mib, mib / 2), base.right(2 * mib, mib / 2));
}

TEST(BaseHasher, FailsWhereTheBaseCannotBeReadAndNotBefore) {
  const SourcePtr failing = std::make_shared<testing::FailingSource>(10 * mib, ESTALE);
  const Rope broken({{Base().source, 0, 2 * mib}, {failing, 0, 2 * mib}});
  BaseHasher hasher;
  hasher.hash(3, broken, 0, mib);
  hasher.hash(3, broken, mib, mib);
  hasher.look_ahead();
  EXPECT_ERROR(hasher.hash(3, broken, 2 * mib, mib), ESTALE, "on fire");
  EXPECT_NO_THROW(hasher.hash(3, broken, 0, mib));
}

TEST(BaseHasher, ServesSeveralWritersAtOnce) {
  const Base base;
  BaseHasher hasher;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> writers;
  for (uint32_t tensor = 0; tensor < 4; ++tensor) {
    writers.emplace_back([&, tensor] {
      for (int round = 0; round < 20; ++round) {
        for (uint64_t at = 0; at + 100'000 <= base.rope.size(); at += 100'000) {
          if (hasher.hash(tensor / 2, base.rope, at, 100'000) != xxh3(base.rope, at, 100'000)) ++wrong;
          hasher.look_ahead();
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace onnxfs
