#include "core/bytes/disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/unit/errors.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

class DiskTest : public ::testing::Test {
 protected:
  Disk& disk_ = Disk::real();
  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(DiskTest, CreatesWhatIsNotThere) {
  const UniqueFd fd = disk_.create(path_, 0600);
  disk_.write(fd.get(), bytes("hello"), 3, path_);
  EXPECT_EQ(content(path_), std::string("\0\0\0hello", 8));
  struct stat status;
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_ERROR(disk_.create(path_, 0600), EEXIST, path_);
  folder_.symlink("link", "elsewhere");
  EXPECT_ERROR(disk_.create(folder_ / "link", 0600), EEXIST, "link");
}

TEST_F(DiskTest, WritesAnyNumberOfPieces) {
  const UniqueFd fd = disk_.create(path_, 0600);
  std::string expected;
  std::vector<std::string> texts;
  std::vector<iovec> pieces;
  for (size_t i = 0; i < 3000; ++i) texts.emplace_back(i % 3, static_cast<char>('a' + i % 26));
  for (std::string& text : texts) {
    pieces.push_back({text.data(), text.size()});
    expected += text;
  }
  disk_.write(fd.get(), pieces, 0, path_);
  EXPECT_EQ(content(path_), expected);
  disk_.write(fd.get(), std::span<const iovec>(), 5, path_);
  EXPECT_EQ(content(path_), expected);
}

TEST_F(DiskTest, NamesTheFileThatCannotBeWritten) {
  folder_.write("file", "x");
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_ERROR(disk_.write(fd.get(), bytes("y"), 0, path_), EBADF, "cannot write to " + path_);
  EXPECT_ERROR(disk_.resize(fd.get(), 7, path_), EINVAL, path_);
  EXPECT_ERROR(disk_.create(folder_ / "no/file", 0600), ENOENT, "no/file");
  EXPECT_ERROR(disk_.make_folder(path_, 0700), EEXIST, path_);
  EXPECT_ERROR(disk_.rename(folder_ / "missing", path_), ENOENT, path_);
  EXPECT_ERROR(disk_.remove(folder_ / "missing"), ENOENT, "missing");
  EXPECT_ERROR(disk_.remove_folder(path_), ENOTDIR, path_);
  EXPECT_ERROR(disk_.flush_folder(folder_ / "missing"), ENOENT, "missing");
}

TEST_F(DiskTest, GoesOnAfterAWriteThatStopsInTheMiddle) {
  // The size that a process may write to ends the first write early, and refuses the next.
  const UniqueFd fd = disk_.create(path_, 0600);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto caught = testing::caught([&] { disk_.write(fd.get(), bytes("0123456789abcdef"), 0, path_); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(caught.code, EFBIG);
  EXPECT_EQ(content(path_), "0123456789");
}

TEST_F(DiskTest, CopiesBetweenFilesAtAnyOffsets) {
  const std::string source = folder_.write("source", "0123456789");
  const UniqueFd from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd to = disk_.create(path_, 0600);
  disk_.copy(from.get(), 2, to.get(), 1, 5, path_);
  EXPECT_EQ(content(path_), std::string("\00023456", 6));
  EXPECT_ERROR(disk_.copy(from.get(), 8, to.get(), 0, 3, path_), ESTALE, "truncated");
}

TEST_F(DiskTest, ResizesRenamesRemovesAndFlushes) {
  {
    const UniqueFd fd = disk_.create(path_, 0600);
    disk_.write(fd.get(), bytes("hello"), 0, path_);
    disk_.resize(fd.get(), 2, path_);
    disk_.set_mode(fd.get(), 0640, ::getuid(), ::getgid(), path_);
    disk_.flush(fd.get(), path_);
  }
  disk_.rename(path_, folder_ / "other");
  disk_.flush_folder(folder_.path());
  EXPECT_EQ(content(folder_ / "other"), "he");
  disk_.remove(folder_ / "other");
  disk_.make_folder(folder_ / "sub", 0700);
  disk_.remove_folder(folder_ / "sub");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(DiskTest, MovesToAFreeNameOnEveryKindOfFileSystem) {
  const std::string from = folder_ / "from";
  testing::FaultyDisk whole, without_renames, without_both;
  without_renames.lack_new_renames();
  without_both.lack_new_renames();
  without_both.lack_links();
  for (testing::FaultyDisk* disk : {&whole, &without_renames, &without_both}) {
    folder_.write("from", "new");
    folder_.write("file", "precious");
    EXPECT_ERROR(move_to_free_name(*disk, from, path_), EEXIST, path_);
    EXPECT_EQ(content(path_), "precious");
    EXPECT_EQ(content(from), "new");
    std::filesystem::remove(path_);
    folder_.symlink("file", "nowhere");
    EXPECT_ERROR(move_to_free_name(*disk, from, path_), EEXIST, path_);
    std::filesystem::remove(path_);
    move_to_free_name(*disk, from, path_);
    EXPECT_EQ(content(path_), "new");
    EXPECT_FALSE(std::filesystem::exists(from));
    EXPECT_ERROR(move_to_free_name(*disk, from, folder_ / "third"), ENOENT, "third");
  }
  // Both ways are one step each that can fail, but for the removal of the first name.
  EXPECT_EQ(whole.steps(), 4U);
  EXPECT_EQ(without_renames.steps(), 5U);
}

}  // namespace
}  // namespace onnxfs
