#include <atomic>
#include <random>
#include <thread>

#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_reference.h"

namespace onnxfs {
namespace {

using testing::put;
using testing::Reference;
using testing::string_payload;

class SidecarRandomTest : public testing::SidecarTest {
 protected:
  testing::FaultyDisk disk_;
};

// Edits, flushes, compactions and reopenings in any order, against plain memory.
TEST_F(SidecarRandomTest, AnyOrderOfEditsIsAsInMemory) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::filesystem::remove_all(folder());
    std::minstd_rand random(seed);
    const auto below = [&random](uint64_t end) { return static_cast<uint32_t>(random() % end); };
    const auto text = [&](size_t size) { return std::string(size, static_cast<char>('A' + below(58))); };
    const SidecarLimits limits{.blob = 100 + below(2000), .garbage = 200 + below(3000)};
    auto sidecar = open(limits, disk_);
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
          std::vector<int64_t> dims(static_cast<size_t>(below(4)), 1);
          dims.push_back(static_cast<int64_t>(model_->catalog().tensors()[group[0]].elements));
          const auto operation = testing::annotate_operation(group[0], dims, doc);
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
          sidecar = open(limits, disk_);
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

    // What little there may be left to give back shows when there may be none.
    if (below(2) == 0) stage.reset();
    sidecar->acquire();  // if it was opened last
    sidecar->compact();
    const uint64_t size = sidecar->size_on_disk();
    stage.reset();
    sidecar.reset();
    sidecar = open({.blob = limits.blob, .garbage = 0}, disk_);
    sidecar->acquire();
    for (int i = 0; i < 3; ++i) sidecar->compact();
    const uint64_t least = sidecar->size_on_disk();
    const uint64_t slack = 400;  // headers of blobs, and of what a compaction says itself
    EXPECT_LE(size, std::max(2 * least, least + limits.garbage) + slack);
    ASSERT_EQ(testing::reference_of(*sidecar), state);
  }
}

// Each thread has a part of one tensor to itself; others flush, compact, read, and write stages.
TEST_F(SidecarRandomTest, ThreadsLoseNothing) {
  folder_.write("model.onnx",
                testing::model(testing::graph({
                                   testing::tensor("w", testing::type::uint8, {4096}).bytes(9, std::string(4096, '-')),
                               }))
                    .str());
  model_ = Model::open(path_);
  const SidecarLimits limits{.blob = 20'000, .garbage = 20'000};
  const auto sidecar = open(limits, disk_);
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
  others.emplace_back([&] {  // stages are moved while they are written
    for (char c = 'a'; !done; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
      const auto stage = sidecar->stage();
      std::string expected;
      for (int i = 0; i < 20; ++i) {
        put(*stage, std::string(30, c), expected.size() + 10);
        expected += std::string(10, '\0') + std::string(30, c);
        EXPECT_EQ(stage->content().text(), expected);
      }
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
