#include "fs/mount_point.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>

#include "core/bytes/unique_fd.h"
#include "tests/unit/errors.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

using testing::TemporaryFolder;

class MountPointTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(MountPointTest, MissingFolderIsMadeAndRemovedAgain) {
  const std::string path = folder_ / "mnt";
  {
    const MountPoint mount_point(path);
    EXPECT_EQ(mount_point.path(), path);
    EXPECT_TRUE(std::filesystem::is_directory(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(MountPointTest, FolderThatWasThereStays) {
  const std::string path = folder_.folder("mnt");
  { const MountPoint mount_point(path + "/"); }
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

TEST_F(MountPointTest, FolderThatWasFilledMeanwhileStays) {
  {
    const MountPoint mount_point(folder_ / "mnt");
    folder_.write("mnt/kept", "by someone else");
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "mnt/kept"));
}

TEST_F(MountPointTest, LinkToAFolderIsThatFolder) {
  const std::string target = folder_.folder("target");
  const MountPoint mount_point(folder_.symlink("link", "target"));
  EXPECT_EQ(mount_point.path(), target);
}

TEST_F(MountPointTest, SaysWhereItCannotMount) {
  EXPECT_ERROR(MountPoint(folder_.write("file", "")), ENOTDIR,
               "cannot mount at " + folder_ / "file" + ": it is not a folder");
  EXPECT_ERROR(MountPoint(folder_ / "none/mnt"), ENOENT, folder_ / "none/mnt");
  EXPECT_ERROR(MountPoint(folder_ / "file/mnt"), ENOTDIR, folder_ / "file/mnt");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

TEST_F(MountPointTest, PathsAreMadeAbsolute) {
  folder_.folder("real/sub");
  folder_.symlink("link", "real");
  const auto path = [](const std::string& given) { return MountPoint(given).path(); };
  const UniqueFd before(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::chdir((folder_ / "real").c_str()), 0);
  const std::string relative = path("mnt"), here = path("."), up = path("../new"), slash = path("sub/"),
                    new_with_slash = path("mnt/"), below = path("sub/../mnt");
  ASSERT_EQ(::fchdir(before.get()), 0);
  EXPECT_EQ(relative, folder_ / "real/mnt");
  EXPECT_EQ(here, folder_ / "real");
  EXPECT_EQ(up, folder_ / "new");
  EXPECT_EQ(slash, folder_ / "real/sub");
  EXPECT_EQ(new_with_slash, folder_ / "real/mnt");
  EXPECT_EQ(below, folder_ / "real/mnt");
  EXPECT_EQ(path(folder_ / "link/mnt"), folder_ / "real/mnt");
}

// Who made it will remove it: one that comes a moment before waits for that, and makes it anew.
TEST_F(MountPointTest, FolderThatIsAboutToVanishIsMadeAnew) {
  auto first = std::make_unique<MountPoint>(folder_ / "mnt");
  std::thread end([&first] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.reset();
  });
  {
    const MountPoint second(folder_ / "mnt");
    end.join();
    EXPECT_TRUE(std::filesystem::is_directory(folder_ / "mnt"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mnt"));
}

TEST_F(MountPointTest, ManyComeAndGo) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 20; ++i) {
        const MountPoint mount_point(folder_ / "mnt");
        EXPECT_TRUE(std::filesystem::is_directory(folder_ / "mnt"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mnt"));
}

TEST_F(MountPointTest, NothingOfOursIsMountedElsewhere) {
  EXPECT_FALSE(find_mounted(folder_.path()));
  EXPECT_FALSE(find_mounted("/"));
  EXPECT_FALSE(find_mounted("/proc"));
}

}  // namespace
}  // namespace onnxfs
