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

}  // namespace
}  // namespace onnxfs
