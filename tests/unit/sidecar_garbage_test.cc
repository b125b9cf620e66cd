// How much room the edits take that nobody needs, and stages that are written while it is given back.
#include <functional>
#include <utility>

#include "core/sidecar/blob.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/garbage.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_reference.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::put;
using testing::string_payload;

TEST(GarbageWatchTest, KnowsWhenToLook) {
  GarbageWatch watch(100);
  EXPECT_TRUE(watch.may_be_worthwhile(0)) << "nothing is known yet";
  watch.set_needed(30, watch.noted());
  EXPECT_FALSE(watch.may_be_worthwhile(129));
  EXPECT_TRUE(watch.may_be_worthwhile(130));
  watch.set_needed(300, watch.noted());
  EXPECT_FALSE(watch.may_be_worthwhile(599));
  watch.note_less_needed(100, 500);
  EXPECT_TRUE(watch.may_be_worthwhile(400)) << "200 are needed";
  const uint64_t noted = watch.noted();
  watch.note_less_needed(50, 500);
  watch.set_needed(300, noted);
  EXPECT_TRUE(watch.may_be_worthwhile(500)) << "what was noted while it was counted counts";
  watch.set_needed(300, watch.noted());
  watch.note_less_needed(UINT64_MAX, 7);
  EXPECT_FALSE(watch.may_be_worthwhile(585));
  EXPECT_TRUE(watch.may_be_worthwhile(586));
  watch.wait_from(1000);
  EXPECT_FALSE(watch.may_be_worthwhile(1099));
}

// In the middle of a flush, once, something else happens.
class InterruptedDisk final : public testing::FaultyDisk {
 public:
  void flush(int fd, const std::string& path) override {
    if (at_flush) std::exchange(at_flush, nullptr)();
    FaultyDisk::flush(fd, path);
  }
  std::function<void()> at_flush;
};

class SidecarGarbageTest : public testing::SidecarTest {
 protected:
  std::shared_ptr<Sidecar> open_small() { return open({.blob = 600, .garbage = 400}, disk_); }
  void fill(Sidecar& sidecar, int count = 30) {
    for (int i = 0; i < count; ++i) write(sidecar, other, 0, "fill");
  }

  InterruptedDisk disk_;
};

TEST_F(SidecarGarbageTest, LivingStagesAreKeptAndKeepNothingElse) {
  const auto sidecar = open_small();
  auto stage = sidecar->stage();
  put(*stage, "first", 0);
  for (int i = 0; i < 5; ++i) {
    fill(*sidecar);
    EXPECT_TRUE(sidecar->compact());
    EXPECT_LT(sidecar->size_on_disk(), 600u);
  }
  put(*stage, "and then to 16", 2);
  EXPECT_EQ(stage->content().text(), "fiand then to 16");
  sidecar->replace(raw, *stage);
  EXPECT_EQ(reopened(raw), "fiand then to 16");
  put(*stage, "once more");
  fill(*sidecar);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_EQ(reopened(raw), "fiand then to 16");
  sidecar->replace(raw, *stage);
  stage.reset();
  EXPECT_EQ(reopened(raw), "once moren to 16");
  fill(*sidecar);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_EQ(reopened(raw), "once moren to 16");
}

TEST_F(SidecarGarbageTest, WhatAStageDoesNotHoldIsNotWritten) {
  const auto sidecar = open_small();
  const auto large = sidecar->stage(), small = sidecar->stage(), emptied = sidecar->stage();
  put(*large, "far away", uint64_t{1} << 50);
  large->resize(uint64_t{1} << 60);
  put(*small, "gone");
  small->resize(0);
  put(*small, "ab", 6);
  put(*small, "cd", 2);
  small->resize(16);
  put(*emptied, "gone");
  emptied->resize(0);
  fill(*sidecar);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_LT(sidecar->size_on_disk(), 1000u);
  EXPECT_EQ(large->content().size(), uint64_t{1} << 60);
  EXPECT_EQ(large->content().slice((uint64_t{1} << 50) - 1, 10).text(), std::string("\0far away\0", 10));
  EXPECT_EQ(emptied->content().size(), 0u);
  const std::string expected("\0\0cd\0\0ab\0\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(small->content().text(), expected);
  sidecar->replace(raw, *small);
  sidecar->replace(strings, *emptied);
  EXPECT_EQ(reopened(raw), expected);
  EXPECT_EQ(reopened(strings), "");
}

// Its first records are compacted away, while its last and the replacement stay.
TEST_F(SidecarGarbageTest, StagesMayTakeEffectWhileTheyAreMoved) {
  for (const bool dropped : {false, true}) {
    files::remove_all(folder());
    const auto sidecar = open_small();
    auto stage = sidecar->stage();
    stage->resize(16);
    put(*stage, "first", 1);
    fill(*sidecar);
    disk_.at_flush = [&] {
      put(*stage, "last", 11);
      sidecar->replace(raw, *stage);
      if (dropped) stage.reset();
    };
    EXPECT_TRUE(sidecar->compact());
    EXPECT_FALSE(files::exists(blob(1)));
    std::string content("\0first\0\0\0\0\0last\0", 16);
    EXPECT_EQ(sidecar->payload(raw).text(), content);
    EXPECT_EQ(reopened(raw), content);
    if (stage) {
      EXPECT_EQ(stage->content().text(), content);
    }
    write(*sidecar, raw, 0, "!");
    content[0] = '!';
    EXPECT_EQ(reopened(raw), content);
  }
}

// A replacement must not be taken for whole because its stage was there before a compaction.
TEST_F(SidecarGarbageTest, MovedStagesThatAPowerCutTookApartAreLeftOut) {
  const auto sidecar = open({.blob = 420, .garbage = 400}, disk_);
  auto stage = sidecar->stage();
  put(*stage, "new!");
  fill(*sidecar);
  ASSERT_TRUE(sidecar->compact());
  for (const uint64_t at : {4, 8, 12}) put(*stage, "new!", at);
  for (int i = 0; i < 4; ++i) write(*sidecar, numbers, 0, "kept");
  sidecar->replace(raw, *stage);
  EXPECT_EQ(reopened(raw), "new!new!new!new!");
  const std::vector<uint32_t> numbers_of_blobs = list_blobs(folder());
  ASSERT_GE(numbers_of_blobs.size(), 3u);
  const std::string cut = folder_ / "cut.sidecar";
  files::copy(folder(), cut);
  files::resize_file(blob_path(cut, numbers_of_blobs[1]), 32);
  const auto found = Sidecar::open(model_, cut, "");
  EXPECT_EQ(found->payload(raw).text(), "0123456789abcdef");
  EXPECT_EQ(found->payload(other).text(), "fill");
  EXPECT_FALSE(found->remarks().empty());
}

TEST_F(SidecarGarbageTest, DroppedStagesAskForACompaction) {
  const auto sidecar = open_small();
  fill(*sidecar, 2);
  EXPECT_FALSE(sidecar->compact());
  int asked = 0;
  sidecar->when_untidy([&] { ++asked; });
  auto stage = sidecar->stage();
  put(*stage, std::string(5000, 's'));
  EXPECT_FALSE(sidecar->compact()) << "all of it may be needed";
  stage.reset();
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_LT(sidecar->size_on_disk(), 600u);
  asked = 0;
  put(*sidecar->stage(), "little");
  EXPECT_EQ(asked, 0);
}

TEST_F(SidecarGarbageTest, WhatBecomesLessIsFoundOutWhateverWasNeededBefore) {
  const std::string large(5000, 's'), none;
  const std::vector<std::pair<std::function<void(Sidecar&)>, std::function<void(Sidecar&)>>> cases = {
      {[&](Sidecar& sidecar) {
         replace(sidecar, strings, string_payload({large, ""}));
       },
       [&](Sidecar& sidecar) {
         replace(sidecar, strings, string_payload({"short", ""}));
       }},
      {[&](Sidecar& sidecar) {
         replace(sidecar, strings, string_payload({large, ""}));
       },
       [&](Sidecar& sidecar) { sidecar.revert(strings); }},
      {[&](Sidecar& sidecar) { sidecar.annotate(raw, nullptr, &large); },
       [&](Sidecar& sidecar) { sidecar.annotate(raw, nullptr, &none); }},
  };
  for (const auto& [grow, shrink] : cases) {
    files::remove_all(folder());
    const auto sidecar = open_small();
    grow(*sidecar);
    EXPECT_FALSE(sidecar->compact());
    shrink(*sidecar);
    EXPECT_TRUE(sidecar->compact());
    EXPECT_LT(sidecar->size_on_disk(), 1000u);
  }
  const auto sidecar = open_small();
  const auto stage = sidecar->stage();
  put(*stage, large);
  EXPECT_FALSE(sidecar->compact());
  stage->resize(3);
  EXPECT_TRUE(sidecar->compact());
}

TEST_F(SidecarGarbageTest, WhatIsOverwrittenDuringACompactionIsForTheNext) {
  const auto sidecar = open_small();
  fill(*sidecar);
  disk_.at_flush = [&] { fill(*sidecar, 8); };
  EXPECT_TRUE(sidecar->compact());
  EXPECT_GT(sidecar->size_on_disk(), 800u);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_LT(sidecar->size_on_disk(), 600u);
}

TEST_F(SidecarGarbageTest, FailedCompactionIsNotRepeatedAtOnce) {
  testing::FaultyDisk failing(testing::FaultyDisk::never, testing::FaultyDisk::Fault::error, ENOSPC);
  const auto sidecar = open({.blob = 600, .garbage = 400}, failing);
  fill(*sidecar);
  failing.fail_always(true);
  EXPECT_ERROR(sidecar->compact(), ENOSPC, "on fire");
  const uint64_t steps = failing.steps();
  EXPECT_FALSE(sidecar->compact());
  EXPECT_EQ(failing.steps(), steps);
  failing.fail_always(false);
  fill(*sidecar, 6);
  EXPECT_TRUE(sidecar->compact());
  EXPECT_EQ(reopened(other), "fill");
}

}  // namespace
}  // namespace onnxfs
