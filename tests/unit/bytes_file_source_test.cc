#include "core/bytes/file_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/unit/errors.h"
#include "tests/unit/sources.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

using testing::read_all;
using testing::read_text;
using testing::TemporaryFolder;

std::string text_of(const Borrowed& bytes) { return {reinterpret_cast<const char*>(bytes.data), bytes.size}; }

// Overwrites the file's first byte with itself, until that is to be seen: times move in steps of the kernel's clock.
void write_again(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR));
  ASSERT_TRUE(fd);
  char byte = 0;
  ASSERT_EQ(::pread(fd.get(), &byte, 1, 0), 1);
  struct stat before, after;
  ASSERT_EQ(::fstat(fd.get(), &before), 0);
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(::pwrite(fd.get(), &byte, 1, 0), 1);
    ASSERT_EQ(::fstat(fd.get(), &after), 0);
  } while (before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

class FileSourceTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_.write("f", "0123456789");
  const std::shared_ptr<const FileSource> file_ = FileSource::open(path_);
};

TEST_F(FileSourceTest, ReadsAndLendsEveryRange) {
  ASSERT_EQ(file_->size(), 10u);
  for (size_t begin = 0; begin <= 10; ++begin) {
    for (size_t length = 0; length <= 10 - begin; ++length) {
      EXPECT_EQ(read_text(*file_, begin, length), std::string("0123456789").substr(begin, length));
      EXPECT_EQ(text_of(file_->borrow(begin, length)), std::string("0123456789").substr(begin, length));
    }
  }
  EXPECT_EQ(file_->label(), path_);
  EXPECT_EQ(file_->staleness(), "");
}

TEST_F(FileSourceTest, LendsItsMapAndNotCopies) {
  const Borrowed first = file_->borrow(2, 3), second = file_->borrow(4, 3);
  EXPECT_EQ(first.data + 2, second.data);
  EXPECT_EQ(first.owner, nullptr);
}

TEST_F(FileSourceTest, EmptyFileHasNothing) {
  const auto empty = FileSource::open(folder_.write("empty", ""));
  EXPECT_EQ(empty->size(), 0u);
  EXPECT_EQ(read_all(*empty), "");
  EXPECT_EQ(empty->borrow(0, 0).size, 0u);
}

// That reads of each kind, and the question alone, fail alike, and that it stays so.
void expect_stale(const FileSource& file, const std::string& reason) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_ERROR(read_text(file, 0, 1), ESTALE, reason);
    EXPECT_ERROR(file.borrow(0, 1), ESTALE, reason);
    EXPECT_ERROR(file.require_current(), ESTALE, reason);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, reason, file.staleness());
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, file.label(), file.staleness());
  }
}

TEST_F(FileSourceTest, IsStaleAfterAWrite) {
  ASSERT_NO_FATAL_FAILURE(write_again(path_));
  expect_stale(*file_, "was written to after it was opened");
}

TEST_F(FileSourceTest, IsStaleAfterAWriteThatFollowsABorrow) {
  file_->borrow(0, 10);
  ASSERT_NO_FATAL_FAILURE(write_again(path_));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a tick of the clock, in which it need not be noticed
  expect_stale(*file_, "was written to after it was opened");
}

TEST_F(FileSourceTest, IsStaleAfterATruncation) {
  ASSERT_EQ(::truncate(path_.c_str(), 9), 0);
  expect_stale(*file_, "it was 10 bytes when it was opened and is 9 now");
}

TEST_F(FileSourceTest, IsStaleWhenItGrows) {
  ASSERT_EQ(::truncate(path_.c_str(), 11), 0);
  expect_stale(*file_, "it was 10 bytes when it was opened and is 11 now");
}

TEST_F(FileSourceTest, IsStaleAfterATouchByANanosecond) {
  timespec times[2] = {{0, UTIME_OMIT}, file_->identity().mtime};
  times[1].tv_nsec += times[1].tv_nsec == 0 ? 1 : -1;
  ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  expect_stale(*file_, "was written to after it was opened");
}

TEST_F(FileSourceTest, SurvivesRenameLinkModeAndUnlink) {
  ASSERT_EQ(::rename(path_.c_str(), (folder_ / "g").c_str()), 0);
  EXPECT_EQ(read_all(*file_), "0123456789");
  ASSERT_EQ(::link((folder_ / "g").c_str(), (folder_ / "h").c_str()), 0);
  ASSERT_EQ(::chmod((folder_ / "g").c_str(), 0400), 0);
  EXPECT_EQ(read_all(*file_), "0123456789");
  ASSERT_EQ(::unlink((folder_ / "g").c_str()), 0);
  ASSERT_EQ(::unlink((folder_ / "h").c_str()), 0);
  EXPECT_EQ(read_all(*file_), "0123456789");
  EXPECT_EQ(text_of(file_->borrow(3, 4)), "3456");
}

TEST_F(FileSourceTest, SurvivesAnotherFileInItsPlace) {
  const std::string other = folder_.write("other", "something else, and longer");
  ASSERT_EQ(::rename(other.c_str(), path_.c_str()), 0);
  EXPECT_EQ(read_all(*file_), "0123456789");
  EXPECT_EQ(read_all(*FileSource::open(path_)), "something else, and longer");
}

TEST_F(FileSourceTest, ManyThreadsReadAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) good += text_of(file_->borrow(i % 10, 1)) == read_text(*file_, i % 10, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 200);
}

TEST_F(FileSourceTest, SaysWhatItCannotOpen) {
  EXPECT_ERROR(FileSource::open(folder_ / "missing"), ENOENT, folder_ / "missing");
  EXPECT_ERROR(FileSource::open(folder_ / "f/below"), ENOTDIR, folder_ / "f/below");
  EXPECT_ERROR(FileSource::open(folder_.path()), EISDIR, folder_.path());
  EXPECT_ERROR(FileSource::open(""), ENOENT, "");
  EXPECT_ERROR(FileSource::open("/dev/null"), EINVAL, "/dev/null is not a regular file");
}

// Without a writer, opening a FIFO would wait for one.
TEST_F(FileSourceTest, RefusesAFifoWithoutWaiting) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_ERROR(FileSource::open(fifo), EINVAL, fifo + " is not a regular file");
}

TEST_F(FileSourceTest, FollowsALink) {
  EXPECT_EQ(read_all(*FileSource::open(folder_.symlink("link", "f"))), "0123456789");
}

TEST_F(FileSourceTest, AdoptedFileHasTheLabelItWasGiven) {
  UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  const auto file = FileSource::adopt(std::move(fd), "the model");
  EXPECT_EQ(read_all(*file), "0123456789");
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  EXPECT_ERROR(read_text(*file, 0, 1), ESTALE, "the model changed on disk");
}

TEST(UniqueFd, ClosesWhatItOwns) {
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  const int first = ::dup(STDIN_FILENO), second = ::dup(STDIN_FILENO);
  ASSERT_TRUE(first >= 0 && second >= 0);
  {
    UniqueFd owner(first);
    UniqueFd other(std::move(owner));
    EXPECT_FALSE(owner);  // NOLINT(bugprone-use-after-move): that it is empty is what we ask
    EXPECT_EQ(other.get(), first);
    owner = UniqueFd(second);
    other.reset();
    EXPECT_FALSE(other);
    EXPECT_FALSE(is_open(first));
    EXPECT_TRUE(is_open(second));
  }
  EXPECT_FALSE(is_open(second));
}

}  // namespace
}  // namespace onnxfs
