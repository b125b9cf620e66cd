// How the commands fail before there is anything to mount.
#include "fs/commands.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

int run(int (*command)(int, char**), std::vector<std::string> arguments) {
  std::vector<char*> values;
  for (std::string& argument : arguments) values.push_back(argument.data());
  values.push_back(nullptr);
  return command(static_cast<int>(arguments.size()), values.data());
}

int mount(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "onnxfs");
  return run(mount_command, std::move(arguments));
}

class CommandsTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  std::string mnt_ = folder_ / "mnt";
  std::string model_ = folder_.write("m.onnx", testing::model(testing::graph({testing::scalar("a")})).str());
};

TEST_F(CommandsTest, WrongArgumentsAreStatusTwo) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(mount({}), 2);
  EXPECT_EQ(mount({model_}), 2);
  EXPECT_EQ(mount({model_, mnt_, "more"}), 2);
  EXPECT_EQ(mount({model_, mnt_, "--no-such-flag"}), 2);
  EXPECT_EQ(mount({model_, mnt_, "-o"}), 2);
  EXPECT_EQ(run(umount_command, {"umount"}), 2);
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(std::filesystem::exists(mnt_));
}

TEST_F(CommandsTest, HelpAndVersionAreStatusZero) {
  for (const char* flag : {"--help", "-h", "--version", "-V"}) {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(mount({flag}), 0) << flag;
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "onnxfs", ::testing::internal::GetCapturedStdout());
  }
}

TEST_F(CommandsTest, WhatIsNoModelIsNotMounted) {
  EXPECT_ERROR(mount({folder_ / "none", mnt_}), ENOENT, folder_ / "none");
  EXPECT_ERROR(mount({folder_.write("z", "PK\x03\x04 and more"), mnt_}), EINVAL, "a zip archive");
  EXPECT_ERROR(mount({folder_.write("c", "\x08\x01\x3a\x05\x0a"), mnt_}), EBADMSG, "truncated at offset 5");
  EXPECT_FALSE(std::filesystem::exists(mnt_)) << "the mount point is made for a model only";
}

TEST_F(CommandsTest, OptionsAreReadBeforeAnythingIsDone) {
  EXPECT_ERROR(mount({model_, mnt_, "-o", "ro,hard"}), EINVAL, "-o hard: there is no such option");
  EXPECT_ERROR(mount({model_, mnt_, "-o", "ro", "-o", "uid=x"}), EINVAL, "-o uid=x");
  EXPECT_FALSE(std::filesystem::exists(mnt_));
}

TEST_F(CommandsTest, MountPointsThatAreNoneAreSaid) {
  EXPECT_ERROR(mount({model_, folder_.write("file", "")}), ENOTDIR, "is not a folder");
  EXPECT_ERROR(mount({model_, folder_ / "none/mnt"}), ENOENT, folder_ / "none/mnt");
}

TEST_F(CommandsTest, NothingMountedCannotBeUnmounted) {
  EXPECT_ERROR(run(umount_command, {"umount", folder_.path()}), EINVAL, "no model is mounted at " + folder_.path());
  EXPECT_ERROR(run(umount_command, {"umount", folder_ / "none"}), EINVAL, "no model is mounted at");
}

struct Checked {
  int status;
  std::string text;
};

Checked check(const std::string& path) {
  ::testing::internal::CaptureStdout();
  const int status = run(check_command, {"check", path});
  return {status, ::testing::internal::GetCapturedStdout()};
}

TEST_F(CommandsTest, CheckSaysWhatIsWrongAndIsOneThen) {
  EXPECT_EQ(check(model_).status, 0);
  EXPECT_EQ(check(model_).text, "");
  const auto odd = testing::graph({testing::scalar("good"), testing::tensor("broken", 1, {3}).bytes(9, "1234"),
                                   testing::tensor("late", 7, {5001}).packed(7, std::vector<uint64_t>(5000, 300))});
  const Checked checked = check(folder_.write("odd.onnx", testing::model(odd).str()));
  EXPECT_EQ(checked.status, 1);
  EXPECT_EQ(std::count(checked.text.begin(), checked.text.end(), '\n'), 2);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "initializers/broken: raw_data has 4 bytes", checked.text);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "initializers/late: int64_data has 5000 entries", checked.text);
}

TEST_F(CommandsTest, CheckOfWhatIsNoModelIsAnError) {
  const auto trouble = [](const std::vector<std::string>& words) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run(check_command, words), 2);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, folder_ / "none", trouble({"check", folder_ / "none"}));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "a zip archive", trouble({"check", folder_.write("z", "PK\x03\x04")}));
  EXPECT_NE(trouble({"check"}), "");
}

}  // namespace
}  // namespace onnxfs
