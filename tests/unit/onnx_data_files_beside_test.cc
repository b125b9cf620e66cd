// The data files of a model that is itself reached through links, and of folders that change under us.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/onnx/data_files.h"
#include "tests/unit/errors.h"
#include "tests/unit/sources.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

using testing::read_all;
using testing::TemporaryFolder;

std::string opened(DataFiles& files, const std::string& location) {
  const DataFile& file = files.files()[files.open(location)];
  return file.source ? read_all(*file.source) : file.refusal;
}

TEST(DataFilesBeside, RelativeModelLiesInTheWorkingDirectory) {
  const TemporaryFolder folder;
  folder.write("m.onnx", "");
  folder.write("w.bin", "inside");
  folder.write("sub/m.onnx", "");
  const UniqueFd before(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::chdir(folder.path().c_str()), 0);
  DataFiles beside = DataFiles::beside("m.onnx"), below = DataFiles::beside("sub/m.onnx");
  ASSERT_EQ(::fchdir(before.get()), 0);
  EXPECT_EQ(opened(beside, "w.bin"), "inside");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "missing", opened(below, "w.bin"));
}

// snapshots/ID/FILE -> ../../blobs/HASH, as the Hugging Face cache has it.
class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    folder_.write("cache/blobs/1111", "the model");
    folder_.write("cache/blobs/2222", "the data");
    folder_.write("cache/other/secret", "secret");
    folder_.symlink("cache/snapshots/id/model.onnx", "../../blobs/1111");
    folder_.symlink("cache/snapshots/id/model.onnx_data", "../../blobs/2222");
    folder_.symlink("cache/snapshots/id/leak", "../../other/secret");
  }
  DataFiles files() const { return DataFiles::beside(folder_ / "cache/snapshots/id/model.onnx"); }

  TemporaryFolder folder_;
};

TEST_F(CacheTest, LinksIntoTheFolderOfTheModelsTargetAreFollowed) {
  DataFiles files = this->files();
  EXPECT_EQ(opened(files, "model.onnx_data"), "the data");
  EXPECT_EQ(opened(files, "model.onnx"), "the model");
}

TEST_F(CacheTest, AbsoluteLinksAreFollowedToo) {
  folder_.symlink("cache/snapshots/id/absolute", folder_ / "cache/blobs/2222");
  DataFiles files = this->files();
  EXPECT_EQ(opened(files, "absolute"), "the data");
}

TEST_F(CacheTest, DataMayLieBesideTheTargetAlone) {
  DataFiles files = this->files();
  EXPECT_EQ(opened(files, "2222"), "the data");
}

TEST_F(CacheTest, OtherFoldersOfTheCacheAreNot) {
  DataFiles files = this->files();
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "leads out", opened(files, "leak"));
  EXPECT_ERROR(files.open("../../other/secret"), EACCES, "leads out");
}

TEST_F(CacheTest, WithoutTheTargetsFolderTheLinksLeadOut) {
  DataFiles files(folder_ / "cache/snapshots/id", "");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "leads out", opened(files, "model.onnx_data"));
}

TEST_F(CacheTest, ALinkToTheFolderIsTheFolder) {
  folder_.symlink("here", "cache/snapshots/id");
  DataFiles files = DataFiles::beside(folder_ / "here/model.onnx");
  EXPECT_EQ(opened(files, "model.onnx_data"), "the data");
}

// Messages name a file by its label, so there must be such a file.
TEST_F(CacheTest, LabelsNameFilesThatExist) {
  DataFiles files = this->files();
  for (const char* location : {"model.onnx_data", "2222"}) {
    const DataFile& file = files.files()[files.open(location)];
    ASSERT_TRUE(file.source);
    EXPECT_TRUE(std::filesystem::exists(file.source->label())) << file.source->label();
  }
}

// "Missing" in the first folder tells less than why the second folder's file is refused.
TEST_F(CacheTest, RefusalOfTheTargetsFolderIsTold) {
  folder_.symlink("cache/blobs/3333", "../other/secret");
  DataFiles files = this->files();
  EXPECT_EQ(opened(files, "3333"), "its data file \"3333\" is a link that leads out of the model's folder");
}

// While a folder is swapped for a link that leads out, again and again, nothing from outside is ever read.
TEST(DataFilesSwap, NoSwapLeadsOut) {
  const TemporaryFolder folder;
  folder.write("model/data/w.bin", "inside");
  folder.write("outside/w.bin", "secret");
  folder.symlink("model/evil", "../outside");
  folder.symlink("model/absolute", folder / "model/data/w.bin");
  const std::string data = folder / "model/data", evil = folder / "model/evil";
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    while (!done) ::renameat2(AT_FDCWD, data.c_str(), AT_FDCWD, evil.c_str(), RENAME_EXCHANGE);
  });
  int inside = 0, refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto longer_than = [begin](int milliseconds) {
    return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(milliseconds);
  };
  while (!longer_than(700) || ((inside == 0 || refused == 0) && !longer_than(10'000))) {
    DataFiles files(folder / "model", "");
    for (const char* location : {"data/w.bin", "absolute"}) {
      const std::string text = opened(files, location);
      EXPECT_NE(text, "secret");
      ++(text == "inside" ? inside : refused);
    }
  }
  done = true;
  swapper.join();
  EXPECT_GT(inside, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace onnxfs
