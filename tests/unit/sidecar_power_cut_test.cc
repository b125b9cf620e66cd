#include <sys/stat.h>

#include <random>

#include "core/sidecar/blob.h"
#include "core/sidecar/folder.h"
#include "tests/unit/sidecar_replay_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::Operation;
using testing::overwrite;
using testing::Reference;

// Knows how much of each file was flushed.
class WatchfulDisk : public testing::FaultyDisk {
 public:
  void flush(int fd, const std::string& path) override {
    struct stat status;
    ASSERT_EQ(::fstat(fd, &status), 0);
    flushed[files::path(path).filename()] = static_cast<uint64_t>(status.st_size);
    FaultyDisk::flush(fd, path);
  }

  std::map<std::string, uint64_t> flushed;
};

// After a power cut, what was flushed is there, and of the rest anything may be.
class SidecarPowerCutTest : public testing::SidecarReplayTest {
 protected:
  uint64_t below(uint64_t end) { return end == 0 ? 0 : random_() % end; }

  // A copy of the folder as it may be after a power cut.
  std::string cut(const std::map<std::string, uint64_t>& flushed) {
    const std::string cut = folder_ / "cut.sidecar";
    files::remove_all(cut);
    files::copy(folder(), cut);
    for (const uint32_t number : list_blobs(cut)) {
      const std::string path = blob_path(cut, number);
      const auto known = flushed.find(files::path(path).filename());
      const uint64_t durable = known == flushed.end() ? 0 : known->second;
      const std::string bytes = contents(path);
      if (durable == bytes.size()) continue;
      if (durable == 0 && below(8) == 0) files::remove(path);
      else overwrite(path, damaged(bytes, durable + below(bytes.size() - durable)));
    }
    return cut;
  }

  std::string damaged(std::string bytes, uint64_t from) {
    switch (below(4)) {
      case 0: bytes.resize(from); break;
      case 1: std::fill(bytes.begin() + static_cast<ptrdiff_t>(from), bytes.end(), '\0'); break;
      case 2:
        std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(from), std::min<size_t>(bytes.size() - from, 64), '\0');
      default: break;
    }
    return bytes;
  }

  // That tensors are as in the first state, but for those that were edited later.
  static void expect_untouched(const Reference& found, std::span<const Reference> states) {
    for (const auto& [tensor, content] : states[0]) {
      const auto same = [&, t = tensor](const Reference& state) { return state.at(t) == states[0].at(t); };
      if (std::ranges::all_of(states, same)) {
        EXPECT_EQ(found.at(tensor), content) << tensor;
      }
    }
  }

  std::minstd_rand random_{1};
};

TEST_F(SidecarPowerCutTest, OnlyWhatWasNotFlushedIsLost) {
  for (const uint64_t capacity : {uint64_t{1} << 20, uint64_t{300}}) {
    const bool one_blob = capacity > 1000;
    files::remove_all(folder());
    WatchfulDisk disk;
    const auto sidecar = open({.blob = capacity, .garbage = 1 << 20}, disk);
    std::vector<Reference> states = {testing::reference_of(*sidecar)};  // since the last flush
    for (const Operation& operation : operations()) {
      operation.run(*sidecar);
      if (operation.name == "flush") states.clear();
      states.push_back(testing::reference_of(*sidecar));
      for (int i = 0; i < 25; ++i) {
        const std::string path = cut(disk.flushed);
        auto found = open_at(path);
        Reference state = testing::reference_of(*found);
        expect_untouched(state, states);
        if (one_blob) {
          ASSERT_EQ(std::ranges::count(states, state), 1);
        }

        // What is left can be worked on, and is left for good.
        found->write(other, 1, testing::bytes_of("go"));
        state = testing::reference_of(*found);
        found.reset();
        found = open_at(path);
        ASSERT_EQ(testing::reference_of(*found), state);
      }
    }
  }
}

// A power cut may take the first of two blobs, and leave the second.
TEST_F(SidecarPowerCutTest, ReplacementsWithoutAllTheirRecordsAreLeftOutForGood) {
  testing::FaultyDisk disk;
  {
    const auto sidecar = open({.blob = 400, .garbage = 10}, disk);
    const auto stage = sidecar->stage();
    for (const uint64_t at : {0, 4, 8, 12}) testing::put(*stage, "new!", at);
    sidecar->replace(raw, *stage);
    write(*sidecar, other, 0, "kept");
    files::copy(folder(), folder_ / "cut.sidecar");
  }
  const std::string cut = folder_ / "cut.sidecar";
  files::resize_file(blob_path(cut, 1), files::file_size(blob_path(cut, 1)) - 88);
  const auto expect_left_out = [&](const Sidecar& sidecar, size_t remarks) {
    EXPECT_EQ(sidecar.payload(raw).text(), "0123456789abcdef");
    EXPECT_EQ(sidecar.payload(other).text(), "kept");
    EXPECT_EQ(sidecar.remarks().size(), remarks);
  };
  expect_left_out(*open_at(cut), 2);
  const auto sidecar = Sidecar::open(model_, cut, "", disk, Opening::ordinary, {.blob = 10'000, .garbage = 10});
  expect_left_out(*sidecar, 2);
  const auto stage = sidecar->stage();
  testing::put(*stage, "keeps the second blob");
  expect_left_out(*open_at(cut), 0);
  EXPECT_TRUE(sidecar->compact()) << "the first blob";
  EXPECT_FALSE(files::exists(blob_path(cut, 1)));
  expect_left_out(*open_at(cut), 0);
}

}  // namespace
}  // namespace onnxfs
