#include <sys/stat.h>

#include "tests/unit/sidecar_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::bytes_of;
using testing::put;
using testing::string_payload;

class SidecarEditsTest : public testing::SidecarTest {};

TEST_F(SidecarEditsTest, NothingIsMadeBeforeTheFirstEdit) {
  EXPECT_EQ(sidecar_path("/a/m.onnx"), "/a/m.onnx.sidecar");
  {
    const auto sidecar = open();
    EXPECT_EQ(sidecar->payload(raw).text(), "0123456789abcdef");
    EXPECT_EQ(sidecar->edits().version(), 0u);
    EXPECT_EQ(sidecar->size_on_disk(), 0u);
    sidecar->flush();
    sidecar->revert(raw);
    EXPECT_FALSE(sidecar->compact());
    const auto stage = sidecar->stage();
    EXPECT_EQ(stage->content().size(), 0u);
    EXPECT_ERROR(write(*sidecar, raw, 16, "x"), EFBIG, "tensor raw");
    EXPECT_ERROR(write(*sidecar, broken, 0, "x"), EIO, "needs 12");
    EXPECT_ERROR(write(*sidecar, strings, 0, "x"), EINVAL, "strings");
    sidecar->remove();
  }
  EXPECT_FALSE(files::exists(folder()));
}

TEST_F(SidecarEditsTest, WritesAreThereAtOnceAndAfterReopening) {
  {
    const auto sidecar = open();
    write(*sidecar, raw, 2, "XY");
    const Rope before = sidecar->payload(raw);
    EXPECT_EQ(before.text(), "01XY456789abcdef");
    write(*sidecar, raw, 15, "Z");
    write(*sidecar, raw, 3, "--");
    write(*sidecar, numbers, 8, std::string("\7\0\0\0\0\0\0\1", 8));
    EXPECT_EQ(sidecar->payload(raw).text(), "01X--56789abcdeZ");
    EXPECT_EQ(before.text(), "01XY456789abcdef") << "a rope is a snapshot";
    const BorrowedBytes lent = sidecar->payload(raw).borrow(3, 2);
    ASSERT_EQ(lent.pieces.size(), 1u);
    EXPECT_EQ(std::string(static_cast<const char*>(lent.pieces[0].iov_base), 2), "--");
    EXPECT_GT(sidecar->size_on_disk(), 0u);
  }
  const auto sidecar = open();
  EXPECT_EQ(sidecar->payload(raw).text(), "01X--56789abcdeZ");
  EXPECT_EQ(sidecar->payload(numbers).text().substr(8, 8), std::string("\7\0\0\0\0\0\0\1", 8));
  EXPECT_EQ(sidecar->edits().size(), 2u);
  EXPECT_TRUE(sidecar->remarks().empty());
  EXPECT_EQ(testing::contents(path_), bytes()) << "the model itself is untouched";
}

TEST_F(SidecarEditsTest, TimesOfEditsSurvive) {
  timespec at;
  {
    const auto sidecar = open();
    write(*sidecar, raw, 0, "x");
    at = sidecar->edits().find(raw)->at;
    EXPECT_NE(at.tv_sec, 0);
  }
  const timespec again = open()->edits().find(raw)->at;
  EXPECT_EQ(again.tv_sec, at.tv_sec);
  EXPECT_EQ(again.tv_nsec, at.tv_nsec);
}

TEST_F(SidecarEditsTest, OnlyTheOwnerMayLook) {
  const auto sidecar = open();
  write(*sidecar, raw, 0, "x");
  struct stat status;
  ASSERT_EQ(::stat(folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  for (const auto& entry : files::directory_iterator(folder())) {
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << entry.path();
  }
}

TEST_F(SidecarEditsTest, TiedTensorsAreEditedAsOne) {
  {
    const auto sidecar = open();
    write(*sidecar, tied, 0, "E");
    write(*sidecar, outside, 7, "L");
    const std::string doc = "only of one";
    sidecar->annotate(tied, nullptr, &doc);
    EXPECT_EQ(sidecar->payload(outside).text(), "ExternaL");
    EXPECT_EQ(sidecar->shared_payloads().owner(tied), outside);
  }
  auto sidecar = open();
  for (const uint32_t tensor : {outside, tied}) EXPECT_EQ(sidecar->payload(tensor).text(), "ExternaL");
  EXPECT_FALSE(sidecar->edits().find(outside)->doc_string);
  sidecar->revert(outside);
  EXPECT_EQ(sidecar->payload(tied).text(), "external");
  EXPECT_EQ(sidecar->edits().find(outside), nullptr);
  EXPECT_EQ(*sidecar->edits().find(tied)->doc_string, "only of one");
  sidecar.reset();
  sidecar = open();
  EXPECT_EQ(sidecar->payload(tied).text(), "external");
  EXPECT_EQ(sidecar->edits().size(), 1u);
}

TEST_F(SidecarEditsTest, ShapesAreOfTheTensorsElements) {
  const auto sidecar = open();
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {17}, {4, -4, -1}}) {
    EXPECT_ERROR(sidecar->annotate(raw, &dims, nullptr), EINVAL, "has not the 16 elements of tensor raw");
  }
  EXPECT_EQ(sidecar->edits().find(raw), nullptr);
}

TEST_F(SidecarEditsTest, AnnotationsKeepWhatTheyDoNotName) {
  const std::vector<int64_t> dims = {4, 4, 1}, square = {2, 2};
  const std::string doc("any \xff bytes\0 at all", 18), empty;
  {
    const auto sidecar = open();
    sidecar->annotate(raw, &dims, nullptr);
    sidecar->annotate(raw, nullptr, &doc);
    sidecar->annotate(other, &square, &empty);
    write(*sidecar, raw, 0, "x");
  }
  auto sidecar = open();
  const TensorEditPtr edit = sidecar->edits().find(raw);
  EXPECT_EQ(*edit->dims, dims);
  EXPECT_EQ(*edit->doc_string, doc);
  EXPECT_EQ(edit->payload->text().substr(0, 2), "x1");
  const TensorEditPtr second = sidecar->edits().find(other);
  EXPECT_EQ(*second->dims, square);
  EXPECT_EQ(*second->doc_string, "");
  EXPECT_FALSE(second->payload);
  sidecar->revert(raw);
  sidecar.reset();
  EXPECT_EQ(open()->edits().find(raw), nullptr);
  EXPECT_EQ(reopened(raw), "0123456789abcdef");
}

TEST_F(SidecarEditsTest, StagesReplaceInOneStep) {
  {
    const auto sidecar = open();
    const auto stage = sidecar->stage();
    put(*stage, "end", 13);
    EXPECT_EQ(stage->content().text(), std::string(13, '\0') + "end");
    stage->resize(14);
    stage->resize(16);
    put(*stage, "begin");
    EXPECT_EQ(sidecar->payload(raw).text(), "0123456789abcdef") << "not yet anybody's";
    sidecar->replace(raw, *stage);
    EXPECT_EQ(sidecar->payload(raw).text(), "begin" + std::string(8, '\0') + "e" + std::string(2, '\0'));
    replace(*sidecar, strings, string_payload({"longer than it was", ""}));
    const auto dropped = sidecar->stage();
    put(*dropped, "dropped");
  }
  const auto sidecar = open();
  EXPECT_EQ(sidecar->payload(raw).text(), "begin" + std::string(8, '\0') + "e" + std::string(2, '\0'));
  EXPECT_EQ(sidecar->payload(strings).text(), string_payload({"longer than it was", ""}));
  EXPECT_EQ(sidecar->edits().size(), 2u);
}

TEST_F(SidecarEditsTest, StagesAreRefusedWhatNoFileHolds) {
  const auto sidecar = open();
  const auto stage = sidecar->stage();
  put(*stage, "abc");
  EXPECT_ERROR(put(*stage, "x", uint64_t{1} << 63), EFBIG, "no file");
  EXPECT_ERROR(put(*stage, "xy", (uint64_t{1} << 63) - 2), EFBIG, "no file");
  EXPECT_ERROR(stage->resize(uint64_t{1} << 63), EFBIG, "no file");
  EXPECT_EQ(stage->content().text(), "abc");
  EXPECT_ERROR(sidecar->replace(raw, *stage), EINVAL, "has 16 bytes");
  EXPECT_ERROR(sidecar->replace(broken, *stage), EIO, "needs 12");
  EXPECT_EQ(sidecar->edits().size(), 0u);
}

TEST_F(SidecarEditsTest, BlobsFollowOneAnother) {
  const SidecarLimits limits{.blob = 300, .garbage = 1 << 20};
  for (int round = 0; round < 3; ++round) {
    const auto sidecar = open(limits);
    for (int i = 0; i < 7; ++i) {
      write(*sidecar, raw, static_cast<uint64_t>(round * 4 + i % 4), std::string(1, static_cast<char>('A' + i)));
    }
  }
  EXPECT_TRUE(files::exists(blob(2)));
  EXPECT_EQ(reopened(raw), "EFGDEFGDEFGDcdef");
}

TEST_F(SidecarEditsTest, RecordsLargerThanABlobHaveOneOfTheirOwn) {
  const SidecarLimits limits{.blob = 64, .garbage = 1 << 20};
  const std::string large(3 << 20, 'L');
  {
    const auto sidecar = open(limits);
    write(*sidecar, raw, 0, "x");
    replace(*sidecar, strings, string_payload({large, "two"}));
  }
  EXPECT_TRUE(reopened(strings) == string_payload({large, "two"}));
  EXPECT_ERROR(put(*open()->stage(), std::string((64 << 20) + 1, 'x')), EINVAL, "too many");
}

TEST_F(SidecarEditsTest, RemoveLeavesNothing) {
  const auto sidecar = open();
  write(*sidecar, raw, 0, "x");
  const Rope content = sidecar->payload(raw);
  sidecar->remove();
  EXPECT_FALSE(files::exists(folder()));
  EXPECT_EQ(content.text(), "x123456789abcdef") << "what is unlinked stays readable";
  EXPECT_ERROR(write(*sidecar, raw, 0, "y"), ESTALE, "were removed");
  EXPECT_EQ(reopened(raw), "0123456789abcdef");
  sidecar->remove();
}

TEST_F(SidecarEditsTest, RemoveLeavesOtherFilesAlone) {
  write(*open(), raw, 0, "x");
  EXPECT_ERROR(remove_sidecar(folder_ / "none"), ENOENT, "no edits");
  folder_.write("model.onnx.sidecar/mine.blob", "mine");
  remove_sidecar(folder());
  EXPECT_TRUE(files::exists(folder() + "/mine.blob"));
  EXPECT_EQ(std::distance(files::directory_iterator(folder()), {}), 1);
}

}  // namespace
}  // namespace onnxfs
