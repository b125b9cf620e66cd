// Where a commit puts what it must not write through: links, files of several names, files of several models. And
// commits to another output.
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/sidecar/commit_plan.h"
#include "core/sidecar/data_file_name.h"
#include "tests/unit/commit_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::expect_states;
using testing::states;

class CommitLinksTest : public testing::CommitTest {
 protected:
  // That the edited data of w.bin went into a new file, and that `old` is as it was.
  void expect_new_data_file(const std::string& old, const std::string& reason,
                            const std::string& expected = "headwwwwwwwwtail") {
    const auto wanted = edited_states();
    const CommitReport report = commit_model();
    EXPECT_EQ(report.written, (std::vector<std::string>{folder_ / "m/model.onnx.data", path_}));
    ASSERT_EQ(report.remarks.size(), 1U);
    EXPECT_EQ(report.remarks[0],
              "w.bin " + reason + ", so it stays as it is; its edited tensors are in model.onnx.data now");
    EXPECT_EQ(contents(old), expected);
    EXPECT_EQ(contents(folder_ / "m/model.onnx.data"), "headWwwwwwwwtail");
    expect_states(path_, wanted);
  }
};

TEST_F(CommitLinksTest, DataFileThatIsALinkIsNotWrittenThrough) {
  files::rename(folder_ / "m/w.bin", folder_ / "m/blob");
  folder_.symlink("m/w.bin", "blob");
  write("w", 0, "W");
  expect_new_data_file(folder_ / "m/blob", "is reached by a symbolic link");
  EXPECT_TRUE(files::is_symlink(folder_ / "m/w.bin"));
}

TEST_F(CommitLinksTest, DataFileInALinkedFolderIsNotWrittenThrough) {
  files::rename(folder_ / "m/sub", folder_ / "m/real");
  folder_.symlink("m/sub", "real");
  write("v", 0, "V");
  EXPECT_EQ(commit_model().written, (std::vector<std::string>{folder_ / "m/model.onnx.data", path_}));
  EXPECT_EQ(contents(folder_ / "m/real/v.bin"), "vvvvvvvv");
}

TEST_F(CommitLinksTest, DataFileOfSeveralNamesIsLeftToTheOthers) {
  files::create_hard_link(folder_ / "m/w.bin", folder_ / "other-name");
  write("w", 0, "W");
  expect_new_data_file(folder_ / "other-name", "has 2 names (hard links)");
}

TEST_F(CommitLinksTest, DataFileOfAnotherModelIsLeftToIt) {
  const std::string other =
      folder_.write("m/other.onnx", testing::model(testing::graph({in_file("o", "./w.bin", 0)})).str());
  write("w", 0, "W");
  expect_new_data_file(folder_ / "m/w.bin", "is used by " + other + " too");
}

TEST_F(CommitLinksTest, OtherModelBesideTheDataFileCountsToo) {
  folder_.write("m/sub/other.onnx", testing::model(testing::graph({in_file("o", "v.bin", 0)})).str());
  folder_.write("m/sub/broken.onnx", "no model");
  write("v", 0, "V");
  EXPECT_EQ(commit_model().written.front(), folder_ / "m/model.onnx.data");
}

TEST_F(CommitLinksTest, NewNameIsOneThatNothingHas) {
  files::create_hard_link(folder_ / "m/w.bin", folder_ / "other-name");
  folder_.write("m/model.onnx.data", "taken");
  write("w", 0, "W");
  EXPECT_EQ(commit_model().written.front(), folder_ / "m/model.onnx-1.data");
  EXPECT_EQ(contents(folder_ / "m/model.onnx.data"), "taken");
}

TEST_F(CommitLinksTest, NewNamesArePlainFileNames) {
  EXPECT_EQ(data_file_name("model.onnx", 0), "model.onnx.data");
  EXPECT_EQ(data_file_name("model.onnx", 2), "model.onnx-2.data");
  for (const std::string name : {"a b.onnx", "..x", "#m", "*", "é.onnx", "a..b", "a.", ".m.onnx"}) {
    const std::string plain = data_file_name(name, 0);
    EXPECT_EQ(plain.find(".."), plain.npos) << plain;
    EXPECT_TRUE(std::ranges::all_of(plain, [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
    })) << plain;
    EXPECT_NE(plain.front(), '.');
  }
  EXPECT_NE(data_file_name("a b", 0), data_file_name("a_b", 0));
  EXPECT_LE(data_file_name(std::string(255, 'x'), 100).size(), 240U);
}

TEST_F(CommitLinksTest, LinkedModelBecomesAFileAndItsTargetStays) {
  files::rename(path_, folder_ / "m/target");
  path_ = folder_.symlink("m/model.onnx", "target");
  write("raw", 0, "R");
  const std::string before = contents(folder_ / "m/target");
  const auto expected = edited_states();
  EXPECT_EQ(commit_model().remarks,
            std::vector<std::string>{path_ + " was a symbolic link, and is a file of its own now; what it led to stays "
                                             "as it is"});
  EXPECT_TRUE(files::is_regular_file(files::symlink_status(path_)));
  EXPECT_TRUE(contents(folder_ / "m/target") == before);
  expect_states(path_, expected);
}

TEST_F(CommitLinksTest, ModelOfSeveralNamesIsLeftToTheOthers) {
  files::create_hard_link(path_, folder_ / "other-name");
  const std::string before = contents(path_);
  write("w", 0, "W");
  EXPECT_TRUE(commit_model().remarks.empty()) << "the model is not written";
  EXPECT_EQ(status(path_).st_nlink, 2U);
  write("raw", 0, "R");
  EXPECT_EQ(commit_model().remarks,
            std::vector<std::string>{path_ + " had 2 names (hard links), and is a file of its own now; what has the "
                                             "others stays as it is"});
  EXPECT_TRUE(contents(folder_ / "other-name") == before);
  EXPECT_EQ(status(path_).st_nlink, 1U);
}

// As a download cache has it: the model and its data are links into a folder of blobs.
TEST_F(CommitLinksTest, ModelOfADownloadCacheGetsFilesOfItsOwn) {
  folder_.write("blobs/1", model_bytes());
  folder_.write("blobs/2", "headwwwwwwwwtail");
  folder_.write("blobs/3", "vvvvvvvv");
  path_ = folder_.symlink("snapshot/model.onnx", "../blobs/1");
  folder_.symlink("snapshot/w.bin", "../blobs/2");
  folder_.symlink("snapshot/sub/v.bin", "../../blobs/3");
  write("w", 0, "W");
  const auto expected = edited_states();
  const CommitReport report = commit_model();
  EXPECT_EQ(report.written.size(), 3U);
  EXPECT_EQ(report.remarks.size(), 3U);
  EXPECT_EQ(contents(folder_ / "blobs/2"), "headwwwwwwwwtail");
  EXPECT_TRUE(contents(folder_ / "blobs/1") == model_bytes());
  expect_states(path_, expected);
}

using CommitOutputTest = CommitLinksTest;

TEST_F(CommitOutputTest, LeavesTheModelAndItsEdits) {
  edit_all();
  const auto expected = edited_states();
  const std::string before = contents(path_);
  folder_.folder("out");
  const CommitReport report = commit_to(folder_ / "out/new.onnx");
  EXPECT_EQ(report.written,
            (std::vector<std::string>{folder_ / "out/w.bin", folder_ / "out/v.bin", folder_ / "out/new.onnx"}));
  expect_states(folder_ / "out/new.onnx", expected);
  EXPECT_TRUE(contents(path_) == before);
  EXPECT_EQ(contents(folder_ / "m/w.bin"), "headwwwwwwwwtail");
  EXPECT_EQ(edited_states(), expected);
  EXPECT_EQ(files_in(folder_ / "out").size(), 3U);
}

TEST_F(CommitOutputTest, InTheSameFolderEditedDataGetANewName) {
  edit_all();
  const auto expected = edited_states();
  const CommitReport report = commit_to(folder_ / "m/new.onnx");
  EXPECT_EQ(report.written, (std::vector<std::string>{folder_ / "m/new.onnx.data", folder_ / "m/new.onnx"}));
  expect_states(folder_ / "m/new.onnx", expected);
}

TEST_F(CommitOutputTest, WithoutEditsIsACopy) {
  commit_to(folder_ / "m/new.onnx");
  EXPECT_TRUE(contents(folder_ / "m/new.onnx") == contents(path_));
  EXPECT_FALSE(has_sidecar());
}

TEST_F(CommitOutputTest, IsNotWrittenOver) {
  folder_.write("m/new.onnx", "something");
  EXPECT_ERROR(commit_to(folder_ / "m/new.onnx"), EEXIST, "m/new.onnx is there already");
  EXPECT_ERROR(commit_to(path_), EEXIST, "is there already");
  EXPECT_EQ(contents(folder_ / "m/new.onnx"), "something");
}

TEST_F(CommitOutputTest, FilesWithTheRightBytesAreTakenAsTheyAre) {
  folder_.write("out/v.bin", "vvvvvvvv");
  folder_.write("out/w.bin", "headWwwwwwwwtail");
  write("w", 0, "W");
  EXPECT_EQ(commit_to(folder_ / "out/new.onnx").written, (std::vector<std::string>{folder_ / "out/new.onnx"}));
}

TEST_F(CommitOutputTest, FilesWithOtherBytesAreLeftAlone) {
  folder_.write("out/v.bin", "other...");
  folder_.folder("out/w.bin");
  write("w", 0, "W");
  const auto expected = edited_states();
  const CommitReport report = commit_to(folder_ / "out/new.onnx");
  EXPECT_EQ(report.remarks.size(), 2U);
  EXPECT_EQ(contents(folder_ / "out/v.bin"), "other...");
  expect_states(folder_ / "out/new.onnx", expected);
}

TEST_F(CommitOutputTest, InAFolderThatIsMissingIsAnError) {
  EXPECT_ERROR(commit_to(folder_ / "nowhere/new.onnx"), ENOENT, "nowhere");
}

TEST_F(CommitOutputTest, OfAModelWithTensorsInItselfNamesTheOutput) {
  const auto self = [](uint64_t offset, std::string_view own) {
    return testing::model(testing::graph(
        {testing::tensor("raw", 2, {4}).bytes(9, "abcd"),
         testing::external(testing::tensor("own", 2, {4}),
                           {{"location", std::string(own)}, {"offset", fmt::format("{:04}", offset)}})}));
  };
  path_ = folder_.write("m/self.onnx", self(self(0, "self.onnx").str().find("abcd"), "self.onnx").str());
  write("own", 1, "XY");
  commit_to(folder_ / "m/copy.onnx");
  EXPECT_EQ(states(*Model::open(folder_ / "m/copy.onnx"))[1].payload, "aXYd");
  EXPECT_ERROR(commit_to(folder_ / "m/longer-name.onnx"), EINVAL, "at a fixed offset in itself");
}

}  // namespace
}  // namespace onnxfs
