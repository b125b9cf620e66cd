#include "core/bytes/lookup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/bytes/error.h"
#include "tests/unit/errors.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

using testing::caught;
using testing::TemporaryFolder;

class LookUpTest : public ::testing::Test {
 protected:
  // What look_up finds has to be what the kernel does, under the path that realpath(3) gives.
  void expect_as_the_kernel(const std::string& path) {
    const LookedUp found = look_up(path);
    struct stat status, expected;
    ASSERT_EQ(::fstat(found.fd.get(), &status), 0);
    ASSERT_EQ(::stat(path.c_str(), &expected), 0) << path;
    EXPECT_EQ(status.st_ino, expected.st_ino) << path;
    EXPECT_EQ(status.st_dev, expected.st_dev) << path;
    EXPECT_EQ(found.path, std::filesystem::canonical(path).string());
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_.write("a/b/file", "content");
};

TEST_F(LookUpTest, FindsWhatTheKernelFinds) {
  folder_.symlink("link", "a/b/file");
  folder_.symlink("to_folder", "a");
  folder_.symlink("a/up", "../to_folder/b");
  folder_.symlink("absolute", file_);
  folder_.symlink("a/b/far", folder_ / "to_folder/up/../b/file");
  for (const char* path : {"a/b/file", "a//b/./file", "a/../a/b/../b/file", "link", "to_folder/b/file", "a/up/file", "a/up",
                           "absolute", "a/b/far", "a/b/", "to_folder/"}) {
    expect_as_the_kernel(folder_ / path);
  }
  for (const char* path : {"/", "/..", "/../..", "/proc/mounts/..", "/usr", "//usr/./bin/"}) {
    if (std::filesystem::exists(path)) expect_as_the_kernel(path);
  }
}

TEST_F(LookUpTest, FollowsOrdinaryMounts) {
  expect_as_the_kernel("/proc/sys/kernel/ostype");
  expect_as_the_kernel("/dev/null");
  EXPECT_EQ(look_up("/dev/null").path, "/dev/null");
}

TEST_F(LookUpTest, SaysWhyNothingIsFound) {
  folder_.symlink("loop", "loop");
  folder_.symlink("dangling", "nothing");
  const auto code = [this](const char* name) { return caught([&] { look_up(folder_ / name); }).code; };
  EXPECT_EQ(code("nothing"), ENOENT);
  EXPECT_EQ(code("dangling"), ENOENT);
  EXPECT_EQ(code("loop"), ELOOP);
  EXPECT_EQ(code("a/b/file/c"), ENOTDIR);
  EXPECT_EQ(code(std::string(300, 'x').c_str()), ENAMETOOLONG);
}

TEST_F(LookUpTest, EndsWhereLinksMultiply) {
  // Each names the next twice.
  for (int i = 0; i < 30; ++i) folder_.symlink(std::to_string(i), fmt::format("{0}/../{0}", i + 1));
  folder_.folder("30");
  EXPECT_EQ(caught([this] { look_up(folder_ / "0"); }).code, ELOOP);
}

TEST_F(LookUpTest, FollowsNoLinkOfTheKernelsMaking) {
  const int fd = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
  std::filesystem::remove(file_);
  // The kernel would open the file that has no name any more.
  EXPECT_NE(caught([fd] { look_up(fmt::format("/proc/self/fd/{}", fd)); }).code, 0);
  ::close(fd);
}

TEST_F(LookUpTest, FindsInAFolder) {
  folder_.symlink("link", "a/b/file");
  folder_.symlink("far", "/dev/null");
  const UniqueFd folder(::open(folder_.path().c_str(), O_PATH | O_CLOEXEC));
  EXPECT_EQ(path_of(look_up_in(folder.get(), folder_.path(), "link").get()), file_);
  EXPECT_EQ(path_of(look_up_in(folder.get(), folder_.path(), "far").get()), "/dev/null");
  EXPECT_ERROR(look_up_in(folder.get(), folder_.path(), "nothing"), ENOENT, folder_ / "nothing");
}

TEST_F(LookUpTest, KnowsWhereAFileIsNow) {
  const UniqueFd fd(::open(file_.c_str(), O_PATH | O_CLOEXEC));
  EXPECT_EQ(path_of(fd.get()), file_);
  std::filesystem::rename(file_, folder_ / "moved");
  EXPECT_EQ(path_of(fd.get()), folder_ / "moved");
  std::filesystem::remove(folder_ / "moved");
  EXPECT_EQ(path_of(fd.get()), "");
}

TEST_F(LookUpTest, WhatIsNotThereLeadsNowhere) {
  folder_.symlink("absolute", "/dev/null");
  for (const char* path : {"absolute", "nothing", "nothing/at all", "a/b/file"}) {
    EXPECT_NO_THROW(require_outside_mounts(folder_ / path));
  }
}

}  // namespace
}  // namespace onnxfs
