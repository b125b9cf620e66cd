// Sidecars that are taken away under who writes them.
#include <functional>

#include "core/sidecar/base.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;

class SidecarRemovedTest : public testing::SidecarTest {
 protected:
  // That a flush finds out what was done, with or without edits since the flush before.
  void expect_found_out(const std::function<void()>& harm, const std::string& part) {
    for (const bool edited_since : {false, true}) {
      files::remove_all(folder());
      const auto sidecar = open({}, disk_);
      write(*sidecar, raw, 0, "x");
      sidecar->flush();
      harm();
      if (edited_since) write(*sidecar, raw, 1, "y");
      for (int i = 0; i < 2; ++i) EXPECT_ERROR(sidecar->flush(), EIO, part);
      EXPECT_EQ(sidecar->payload(raw).text().substr(2), "23456789abcdef") << "what is in the mount can be copied";
    }
  }

  // Who edits a model locks its file, so the next one has a file of its own there.
  std::shared_ptr<Sidecar> open_by_the_next() {
    files::copy_file(path_, folder_ / "copy");
    files::rename(folder_ / "copy", path_);
    model_ = Model::open(path_);
    return open({}, disk_);
  }

  testing::FaultyDisk disk_;
};

TEST_F(SidecarRemovedTest, FolderThatIsGoneIsFoundOut) {
  expect_found_out([this] { files::remove_all(folder()); }, folder() + " were removed or replaced");
}

TEST_F(SidecarRemovedTest, FolderThatIsAnotherIsFoundOut) {
  const auto exchange = [this] {
    files::remove_all(folder_ / "away");
    files::rename(folder(), folder_ / "away");
    files::copy(folder_ / "away", folder());
  };
  expect_found_out(exchange, folder() + " were removed or replaced");
}

TEST_F(SidecarRemovedTest, BlobThatIsGoneIsFoundOut) {
  expect_found_out([this] { files::remove(blob()); }, blob() + ", with edits, was removed");
}

TEST_F(SidecarRemovedTest, BlobThatIsAnotherIsFoundOut) {
  const auto exchange = [this] {
    files::copy_file(blob(), folder_ / "copy", files::copy_options::overwrite_existing);
    files::rename(folder_ / "copy", blob());
  };
  expect_found_out(exchange, blob() + ", with edits, was removed");
}

TEST_F(SidecarRemovedTest, BaseThatIsGoneIsFoundOut) {
  expect_found_out([this] { files::remove(folder() + "/base.json"); }, "copy what is edited out of the mount");
}

TEST_F(SidecarRemovedTest, BlobThatIsCutIsFoundOut) {
  const auto sidecar = open({}, disk_);
  write(*sidecar, raw, 0, "x");
  sidecar->flush();
  files::resize_file(blob(), 40);
  EXPECT_ERROR(sidecar->flush(), EIO, blob());
}

TEST_F(SidecarRemovedTest, ClosingLeavesWhatIsThereNowAlone) {
  auto sidecar = open({}, disk_);
  write(*sidecar, raw, 0, "x");
  files::remove_all(folder());
  {
    const auto next = open_by_the_next();
    write(*next, raw, 0, "next");
    sidecar.reset();
    next->flush();
  }
  EXPECT_EQ(reopened(raw), "next456789abcdef");
}

TEST_F(SidecarRemovedTest, FirstEditInADataFileLeavesWhatIsThereNowAlone) {
  const auto sidecar = open({}, disk_);
  write(*sidecar, raw, 0, "x");
  files::remove_all(folder());
  const auto next = open_by_the_next();
  write(*next, raw, 0, "next");
  EXPECT_ERROR(write(*sidecar, outside, 0, "x"), EIO, "were removed or replaced");
  EXPECT_EQ(reopened(raw), "next456789abcdef");
}

}  // namespace
}  // namespace onnxfs
