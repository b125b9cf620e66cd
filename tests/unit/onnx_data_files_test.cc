// Which files external data may stand in, on real folders.
#include "core/onnx/data_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/errors.h"
#include "tests/unit/sources.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

using namespace std::string_literals;
using testing::read_all;
using testing::TemporaryFolder;

// What is read at a location, or the refusal.
std::string opened(DataFiles& files, const std::string& location) {
  const DataFile& file = files.files()[files.open(location)];
  EXPECT_NE(file.source == nullptr, file.refusal.empty());
  return file.source ? read_all(*file.source) : file.refusal;
}

TEST(NormaliseLocation, IsLexical) {
  const std::pair<const char*, const char*> cases[] = {
      {"w.bin", "w.bin"},
      {"./w.bin", "w.bin"},
      {".//w.bin", "w.bin"},
      {"a/b/w.bin", "a/b/w.bin"},
      {"a//b///w", "a/b/w"},
      {"a/./b/./w", "a/b/w"},
      {"sub/../w.bin", "w.bin"},
      {"a/b/../../w", "w"},
      {"a/../b/../w", "w"},
      {"w..bin", "w..bin"},
      {"..w", "..w"},
      {"...", "..."},
      {" w ", " w "},
      {"#w", "#w"},
      {"sub\\w.bin", "sub\\w.bin"},
      {"~/w", "~/w"},
      {"\xff\n", "\xff\n"},
  };
  for (const auto& [location, expected] : cases) EXPECT_EQ(normalise_location(location), expected) << location;
}

TEST(NormaliseLocation, RefusesWhatMayNotBeFollowed) {
  EXPECT_ERROR(normalise_location(""), EACCES, "is empty");
  EXPECT_ERROR(normalise_location("w\0.bin"s), EACCES, "holds a NUL");
  EXPECT_ERROR(normalise_location("\0"s), EACCES, "holds a NUL");
  for (const char* location : {"/w.bin", "//w.bin", "/"}) {
    EXPECT_ERROR(normalise_location(location), EACCES, "is absolute");
  }
  for (const char* location : {"..", "../w", "./../w", "a/../../w", "a/b/../../../w", "a/../.."}) {
    EXPECT_ERROR(normalise_location(location), EACCES, "leads out of the model's folder");
  }
  for (const char* location : {".", "./", "w/", "a/w//", "a/..", "./.", "a/../b/.."}) {
    EXPECT_ERROR(normalise_location(location), EACCES, "names a folder");
  }
  for (const char* location : {"*/_ORT_MEM_ADDR_/*", "_ORT_MEM_ADDR_", "a/../*/_ORT_MEM_ADDR_/*/../w"}) {
    EXPECT_ERROR(normalise_location(location), EACCES, "means memory");
  }
}

// What they quote comes from the file, and may hold anything.
TEST(NormaliseLocation, SentencesStayOneLine) {
  EXPECT_ERROR(normalise_location("/a\nb"), EACCES, "is absolute");
  EXPECT_ERROR(normalise_location("../a\nb"), EACCES, "leads out");
  EXPECT_ERROR(normalise_location("a\n/"), EACCES, "names a folder");
}

class DataFilesTest : public ::testing::Test {
 protected:
  DataFilesTest() {
    folder_.write("model/w.bin", "inside");
    folder_.write("model/sub/deep.bin", "deep");
    folder_.write("outside/secret.bin", "secret");
  }
  DataFiles files() const { return {model_, ""}; }
  std::string open(const std::string& location) const {
    DataFiles files = this->files();
    return opened(files, location);
  }

  TemporaryFolder folder_;
  std::string model_ = folder_.folder("model");
};

TEST_F(DataFilesTest, OpensWhatLiesBeneath) {
  folder_.write("model/w..bin", "dots");
  folder_.write("model/#w", "hash");
  folder_.write("model/sub\\w", "backslash");
  folder_.write("model/ sp ace é", "spaces");
  EXPECT_EQ(open("w.bin"), "inside");
  EXPECT_EQ(open("./sub//deep.bin"), "deep");
  EXPECT_EQ(open("missing/../w.bin"), "inside");
  EXPECT_EQ(open("w..bin"), "dots");
  EXPECT_EQ(open("#w"), "hash");
  EXPECT_EQ(open("sub\\w"), "backslash");
  EXPECT_EQ(open(" sp ace é"), "spaces");
}

TEST_F(DataFilesTest, SaysWhatIsMissing) {
  EXPECT_EQ(open("missing.bin"), "its data file \"missing.bin\" is missing");
  EXPECT_EQ(open("missing/w.bin"), "its data file \"missing/w.bin\" is missing");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "\"w.bin/below\" cannot be opened", open("w.bin/below"));
  DataFiles files = this->files();
  EXPECT_ERROR(files.open("../outside/secret.bin"), EACCES, "leads out");
}

TEST_F(DataFilesTest, FollowsLinksThatStayBeneath) {
  folder_.symlink("model/relative", "sub/deep.bin");
  folder_.symlink("model/sub/up", "../w.bin");
  folder_.symlink("model/folder", "sub");
  folder_.symlink("model/chain", "relative");
  folder_.symlink("model/absolute", model_ + "/w.bin");
  folder_.symlink("model/absolute_folder", model_ + "/sub");
  folder_.symlink("model/round", "../model/w.bin");  // out, and in again
  EXPECT_EQ(open("relative"), "deep");
  EXPECT_EQ(open("sub/up"), "inside");
  EXPECT_EQ(open("folder/deep.bin"), "deep");
  EXPECT_EQ(open("chain"), "deep");
  EXPECT_EQ(open("absolute"), "inside");
  EXPECT_EQ(open("absolute_folder/deep.bin"), "deep");
  EXPECT_EQ(open("round"), "inside");
}

TEST_F(DataFilesTest, RefusesLinksThatLeadOut) {
  folder_.write("model2/w.bin", "a folder whose name begins alike");
  folder_.write("model2sub/deep.bin", "and so that the rest is a path beneath");
  folder_.symlink("model/relative", "../outside/secret.bin");
  folder_.symlink("model/absolute", folder_ / "outside/secret.bin");
  folder_.symlink("model/folder", "../outside");
  folder_.symlink("model/absolute_folder", folder_ / "outside");
  folder_.symlink("model/chain", "relative");
  folder_.symlink("model/alike", folder_ / "model2/w.bin");
  folder_.symlink("model/very_alike", folder_ / "model2sub/deep.bin");
  folder_.symlink("model/password", "/etc/passwd");
  folder_.symlink("model/dangling_out", "../outside/missing");
  for (const std::string location : {"relative", "absolute", "folder/secret.bin", "absolute_folder/secret.bin", "chain",
                                     "alike", "very_alike", "password", "dangling_out"}) {
    EXPECT_EQ(open(location), "its data file \"" + location + "\" is a link that leads out of the model's folder");
  }
}

TEST_F(DataFilesTest, RefusesLinksThatLeadNowhere) {
  folder_.symlink("model/dangling", "nothing");
  folder_.symlink("model/loop", "loop");
  EXPECT_EQ(open("dangling"), "its data file \"dangling\" is missing");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "cannot be opened", open("loop"));
}

TEST_F(DataFilesTest, RefusesMagicLinks) {
  const UniqueFd secret(::open((folder_ / "outside/secret.bin").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd inside(::open((folder_ / "model/w.bin").c_str(), O_RDONLY | O_CLOEXEC));
  folder_.symlink("model/magic", "/proc/self/fd/" + std::to_string(secret.get()));
  folder_.symlink("model/root", "/proc/self/root" + folder_ / "outside/secret.bin");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "leads out", open("magic"));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "leads out", open("root"));
  DataFiles proc("/proc/self", "");
  EXPECT_PRED_FORMAT2(::testing::IsNotSubstring, "inside", opened(proc, "fd/" + std::to_string(inside.get())));
}

TEST_F(DataFilesTest, HardLinksAreFiles) {
  ASSERT_EQ(::link((folder_ / "outside/secret.bin").c_str(), (folder_ / "model/hard").c_str()), 0);
  EXPECT_EQ(open("hard"), "secret");
}

TEST_F(DataFilesTest, OpensRegularFilesOnlyAndDoesNotWait) {
  ASSERT_EQ(::mkfifo((folder_ / "model/fifo").c_str(), 0600), 0);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "is not a regular file", open("fifo"));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "is a directory", open("sub"));
  folder_.symlink("model/zero", "/dev/zero");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "leads out", open("zero"));
  DataFiles dev("/dev", "");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "is not a regular file", opened(dev, "zero"));
}

TEST_F(DataFilesTest, OpensEachFileOnce) {
  DataFiles files = this->files();
  const uint32_t first = files.open("w.bin");
  EXPECT_EQ(files.open("./w.bin"), first);
  EXPECT_EQ(files.open("sub/../w.bin"), first);
  const uint32_t refused = files.open("missing.bin");
  EXPECT_NE(refused, first);
  EXPECT_EQ(files.open("./missing.bin"), refused);
  EXPECT_EQ(files.files().size(), 2u);
  const std::vector<DataFile> taken = std::move(files).take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[first].location, "w.bin");
  EXPECT_EQ(read_all(*taken[first].source), "inside");
}

TEST_F(DataFilesTest, FoldersStayOpen) {
  DataFiles files = this->files();
  ASSERT_EQ(::rename(model_.c_str(), (folder_ / "moved").c_str()), 0);
  folder_.write("model/w.bin", "an impostor");
  EXPECT_EQ(opened(files, "w.bin"), "inside");
}

TEST_F(DataFilesTest, MissingFolderIsAnError) {
  EXPECT_ERROR(DataFiles(folder_ / "none", ""), ENOENT, folder_ / "none");
  EXPECT_ERROR(DataFiles(folder_ / "model/w.bin", ""), ENOTDIR, "w.bin");
}

TEST_F(DataFilesTest, RootFolderHoldsEverything) {
  DataFiles files("/", "");
  EXPECT_EQ(opened(files, (folder_ / "model/w.bin").substr(1)), "inside");
  folder_.symlink("model/absolute", folder_ / "outside/secret.bin");
  EXPECT_EQ(opened(files, (folder_ / "model/absolute").substr(1)), "secret");
}

}  // namespace
}  // namespace onnxfs
