#include <atomic>
#include <random>
#include <thread>

#include "core/sidecar/blob.h"
#include "core/sidecar/folder.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_reference.h"

namespace onnxfs {
namespace {

using testing::put;
using testing::Reference;
using testing::string_payload;

class SidecarCompactionTest : public testing::SidecarTest {
 protected:
  std::shared_ptr<Sidecar> open_small(const SidecarLimits& limits = {.blob = 600, .garbage = 400}) {
    return open(limits, disk_);
  }
  uint64_t bytes_in_folder() const {
    uint64_t bytes = 0;
    for (const uint32_t number : list_blobs(folder())) {
      bytes += std::filesystem::file_size(blob(static_cast<int>(number)));
    }
    return bytes;
  }
  void fill(Sidecar& sidecar, int count = 30) {
    for (int i = 0; i < count; ++i) write(sidecar, other, 0, "fill");
  }

  testing::FaultyDisk disk_;
};

TEST_F(SidecarCompactionTest, GivesBackWhatWasOverwritten) {
  const auto sidecar = open_small();
  write(*sidecar, raw, 3, "keep");
  fill(*sidecar, 2);
  EXPECT_FALSE(sidecar->compact()) << "not worth it";
  fill(*sidecar, 100);
  const uint64_t before = sidecar->size_on_disk(), version = sidecar->edits().version();
  EXPECT_EQ(before, bytes_in_folder());
  const Rope old = sidecar->payload(raw);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_LT(sidecar->size_on_disk(), before / 10);
  EXPECT_EQ(sidecar->size_on_disk(), bytes_in_folder());
  EXPECT_EQ(sidecar->edits().version(), version) << "nothing that anybody sees has changed";
  EXPECT_EQ(old.text(), "012keep789abcdef");
  EXPECT_EQ(sidecar->payload(raw).text(), "012keep789abcdef");
  EXPECT_FALSE(sidecar->compact());
  EXPECT_EQ(reopened(raw), "012keep789abcdef");
}

TEST_F(SidecarCompactionTest, IsCheapToAskFor) {
  const auto sidecar = open_small();
  fill(*sidecar, 2);
  EXPECT_FALSE(sidecar->compact());
  const uint64_t steps = disk_.steps();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(sidecar->compact());
  EXPECT_EQ(disk_.steps(), steps);
}

TEST_F(SidecarCompactionTest, EditsOfEachKindAreKept) {
  Reference state;
  {
    const auto sidecar = open_small();
    auto sparse = sidecar->stage();
    put(*sparse, "ab", 3);
    sparse->resize(16);
    sidecar->replace(raw, *sparse);
    sparse.reset();
    replace(*sidecar, strings, string_payload({"much longer than before", std::string(2000, 's')}));
    write(*sidecar, tied, 2, "TT");
    const std::vector<int64_t> dims = {2, 2};
    const std::string doc = "documented";
    sidecar->annotate(other, &dims, &doc);
    sidecar->annotate(numbers, nullptr, &doc);
    sidecar->revert(numbers);
    for (int i = 0; i < 3; ++i) {
      fill(*sidecar, 60);
      state = testing::reference_of(*sidecar);
      EXPECT_TRUE(sidecar->compact());
      EXPECT_EQ(testing::reference_of(*sidecar), state);
      EXPECT_EQ(testing::reference_of(*open()), state);
    }
  }
  EXPECT_EQ(testing::reference_of(*open()), state);
}

TEST_F(SidecarCompactionTest, EmptyStringsAreKept) {
  const auto sidecar = open_small();
  replace(*sidecar, strings, "");
  fill(*sidecar);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_EQ(reopened(strings), "");
}

TEST_F(SidecarCompactionTest, LivingStagesAreKept) {
  const auto sidecar = open_small();
  fill(*sidecar, 12);
  auto stage = sidecar->stage();
  put(*stage, "first", 0);
  fill(*sidecar);
  EXPECT_TRUE(sidecar->compact()) << "what is older than the stage";
  put(*stage, "and then to 16", 2);
  fill(*sidecar);
  EXPECT_FALSE(sidecar->compact());
  EXPECT_EQ(stage->content().text(), "fiand then to 16");
  sidecar->replace(raw, *stage);
  EXPECT_EQ(reopened(raw), "fiand then to 16");
  stage.reset();
  fill(*sidecar);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_EQ(reopened(raw), "fiand then to 16");
}

// The first records of a stage are compacted away, while its last and the replacement stay.
TEST_F(SidecarCompactionTest, StagesMayBeCompactedInPart) {
  const auto sidecar = open_small();
  auto stage = sidecar->stage();
  stage->resize(16);
  put(*stage, "first", 1);
  fill(*sidecar);
  const auto blocker = sidecar->stage();
  put(*blocker, "x");
  put(*stage, "last", 11);
  sidecar->replace(raw, *stage);
  stage.reset();
  const std::string content = sidecar->payload(raw).text();
  EXPECT_TRUE(sidecar->compact());
  EXPECT_EQ(sidecar->payload(raw).text(), content);
  EXPECT_EQ(reopened(raw), content);
  write(*sidecar, raw, 0, "!");
  EXPECT_EQ(reopened(raw), "!" + content.substr(1));
}

TEST_F(SidecarCompactionTest, LargePayloadsMoveInPieces) {
  const std::string large(5'000'000, 'L');
  folder_.write("model.onnx",
                testing::model(testing::graph({
                                   testing::tensor("large", testing::type::uint8, {5'000'000}).bytes(9, large),
                                   testing::tensor("filler", testing::type::uint8, {5'000'000}).bytes(9, large),
                               }))
                    .str());
  model_ = Model::open(path_);
  const auto sidecar = open({.blob = 3 << 20, .garbage = 1 << 20}, disk_);
  std::string expected(5'000'000, 'l');
  replace(*sidecar, 0, expected);
  for (size_t at = 0; at < 4'000'000; at += 99'999) {
    write(*sidecar, 0, at, "edit");
    expected.replace(at, 4, "edit");
  }
  for (int i = 0; i < 5; ++i) replace(*sidecar, 1, std::string(5'000'000, static_cast<char>('a' + i)));
  EXPECT_TRUE(sidecar->compact());
  EXPECT_LE(sidecar->payload(0).extents().size(), 6u) << "and what was in small pieces is in large ones";
  EXPECT_TRUE(sidecar->payload(0).text() == expected);
  EXPECT_TRUE(reopened(0) == expected);
}

// As after a power cut that undoes their removal: some of them, in whatever state.
TEST_F(SidecarCompactionTest, BlobsThatComeBackSayNothing) {
  const std::string kept = folder_.folder("kept");
  auto sidecar = open_small();
  write(*sidecar, raw, 3, "keep");
  fill(*sidecar);
  const auto numbers_before = list_blobs(folder());
  ASSERT_GE(numbers_before.size(), 3u);
  for (const uint32_t number : numbers_before) {
    std::filesystem::copy_file(blob_path(folder(), number), blob_path(kept, number));
  }
  EXPECT_TRUE(sidecar->compact());
  sidecar->revert(other);
  const Reference state = testing::reference_of(*sidecar);
  sidecar.reset();
  const auto come_back = [&](uint32_t number) {
    std::filesystem::copy_file(blob_path(kept, number), blob_path(folder(), number));
  };
  come_back(numbers_before[1]);
  EXPECT_EQ(testing::reference_of(*open()), state);
  come_back(numbers_before[0]);
  std::filesystem::resize_file(blob_path(folder(), numbers_before[0]), 150);
  EXPECT_EQ(testing::reference_of(*open()), state);
  open()->acquire();
  for (const uint32_t number : numbers_before) EXPECT_FALSE(std::filesystem::exists(blob_path(folder(), number)));
  EXPECT_EQ(testing::reference_of(*open()), state);
}

// Edits, flushes, compactions and reopenings in any order, against plain memory.
TEST_F(SidecarCompactionTest, AnyOrderOfEditsIsAsInMemory) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::filesystem::remove_all(folder());
    std::minstd_rand random(seed);
    const auto below = [&random](uint64_t end) { return static_cast<uint32_t>(random() % end); };
    const auto text = [&](size_t size) { return std::string(size, static_cast<char>('A' + below(58))); };
    const SidecarLimits limits{.blob = 100 + below(2000), .garbage = 200 + below(3000)};
    auto sidecar = open_small(limits);
    Reference state = testing::reference_of(*sidecar);
    const Reference original = state;
    std::shared_ptr<Stage> stage;
    std::string staged;
    int compactions = 0;
    const std::vector<std::vector<uint32_t>> groups = {{raw}, {numbers}, {other}, {outside, tied}, {tied, outside}};
    for (int i = 0; i < 600; ++i) {
      const std::vector<uint32_t>& group = groups[below(groups.size())];
      const size_t size = state[group[0]].payload.size();
      switch (below(12)) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const uint32_t offset = below(size), length = 1 + below(size - offset);
          const auto operation = testing::write_operation(group, offset, text(length));
          operation.run(*sidecar);
          operation.apply(state);
          break;
        }
        case 4: {
          const auto operation = testing::replace_operation(group, text(size), 1 + below(9));
          operation.run(*sidecar);
          operation.apply(state);
          break;
        }
        case 5: {
          const auto operation = testing::replace_operation({strings}, string_payload({text(below(40)), text(3)}));
          operation.run(*sidecar);
          operation.apply(state);
          break;
        }
        case 6: {
          std::optional<std::string> doc;
          if (below(2) == 0) doc = text(below(20));
          const auto operation = testing::annotate_operation(group[0], std::vector<int64_t>{below(9)}, doc);
          operation.run(*sidecar);
          operation.apply(state);
          break;
        }
        case 7: {
          if (below(3) != 0) break;
          const auto operation = testing::revert_operation(group, original.at(group[0]).payload);
          operation.run(*sidecar);
          operation.apply(state);
          break;
        }
        case 8:
          if (below(5) == 0) sidecar->flush();
          compactions += sidecar->compact();
          break;
        case 9:
          if (below(4) != 0) break;
          stage.reset();
          sidecar.reset();
          sidecar = open_small(limits);
          ASSERT_TRUE(sidecar->remarks().empty());
          break;
        default:  // a stage that lives for long
          if (!stage) {
            stage = sidecar->stage();
            staged.clear();
          }
          if (staged.size() >= 16 && below(2) == 0) {
            stage->resize(16);
            sidecar->replace(raw, *stage);
            state[raw].payload = staged.substr(0, 16);
            staged.resize(16);
            if (below(2) == 0) stage.reset();
          } else if (below(4) == 0) {
            const size_t length = below(20);
            stage->resize(length);
            staged.resize(length);
          } else {
            const size_t offset = below(15);
            const std::string piece = text(1 + below(8));
            put(*stage, piece, offset);
            if (staged.size() < offset + piece.size()) staged.resize(offset + piece.size());
            staged.replace(offset, piece.size(), piece);
          }
          ASSERT_EQ(stage ? stage->content().text() : staged, staged);
      }
      ASSERT_EQ(testing::reference_of(*sidecar), state) << i;
      if (i % 16 == 0) {
        ASSERT_EQ(testing::reference_of(*open()), state) << i;
      }
    }
    EXPECT_GT(compactions, 0);
  }
}

// Each thread has a part of one tensor to itself; others flush, compact, and read.
TEST_F(SidecarCompactionTest, ThreadsLoseNothing) {
  folder_.write("model.onnx",
                testing::model(testing::graph({
                                   testing::tensor("w", testing::type::uint8, {4096}).bytes(9, std::string(4096, '-')),
                               }))
                    .str());
  model_ = Model::open(path_);
  const SidecarLimits limits{.blob = 20'000, .garbage = 20'000};
  const auto sidecar = open_small(limits);
  std::atomic<bool> done = false;
  std::atomic<int> compactions = 0;
  std::vector<std::thread> writers, others;
  for (uint64_t part = 0; part < 4; ++part) {
    writers.emplace_back([&, part] {
      for (int round = 0; round < 400; ++round) {
        const std::string text(32, static_cast<char>('A' + round % 26));
        const uint64_t offset = part * 1024 + static_cast<uint64_t>(round % 32) * 32;
        write(*sidecar, 0, offset, text);
        std::string found(32, '\0');
        sidecar->payload(0).read(offset, std::as_writable_bytes(std::span(found)));
        EXPECT_EQ(found, text);
      }
    });
  }
  others.emplace_back([&] {
    while (!done) compactions += sidecar->compact();
  });
  others.emplace_back([&] {
    while (!done) sidecar->flush();
  });
  others.emplace_back([&] {
    while (!done) {
      const std::string text = sidecar->payload(0).text();
      for (size_t at = 0; at < text.size(); at += 32) EXPECT_EQ(text.substr(at, 32), std::string(32, text[at]));
    }
  });
  for (std::thread& thread : writers) thread.join();
  done = true;
  for (std::thread& thread : others) thread.join();
  EXPECT_GT(compactions, 0);
  EXPECT_EQ(reopened(0), sidecar->payload(0).text());
}

}  // namespace
}  // namespace onnxfs
