#include "core/sidecar/checked_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <thread>

#include "core/bytes/error.h"
#include "core/bytes/mutex.h"

namespace onnxfs {

namespace {

constexpr uint64_t buffer_size = 1 << 20;

// A shorter range costs less through the buffer than a call of its own.
constexpr uint64_t shortest_direct = 128 * 1024;

// So much is copied before progress is told and the disk begins to write it.
constexpr uint64_t longest_direct = 16 << 20;

// Fits, twice, into a core's own cache.
constexpr uint64_t comparison_size = 128 * 1024;

size_t read_at(int fd, std::span<std::byte> out, uint64_t offset, const std::string& path) {
  for (;;) {
    const ssize_t n = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) fail(EIO, "cannot read {} back at offset {}: {}", path, offset, describe_errno(errno));
  }
}

class Comparison {
 public:
  Comparison(const Rope& content, int fd, uint64_t offset, const std::string& path)
      : content_(content), fd_(fd), offset_(offset), path_(path) {}

  // Where in the file the first piece of [at, at + length) of the rope begins that differs.
  std::optional<uint64_t> find_difference(uint64_t at, uint64_t length) {
    for (uint64_t n = 0; length != 0; at += n, length -= n) {
      const auto wanted = std::span(wanted_.get(), static_cast<size_t>(std::min(length, comparison_size)));
      n = read_at(fd_, std::span(found_.get(), wanted.size()), offset_ + at, path_);
      if (n == 0) return offset_ + at;
      content_.read(at, wanted.first(n));
      if (std::memcmp(wanted.data(), found_.get(), n) != 0) return offset_ + at;
    }
    return std::nullopt;
  }

  void require_same(uint64_t at, uint64_t length) {
    const auto difference = find_difference(at, length);
    if (difference) fail(EIO, "{} was read back, and is not what was written at offset {}", path_, *difference);
  }

 private:
  const Rope& content_;
  int fd_;
  uint64_t offset_;
  const std::string& path_;
  std::unique_ptr<std::byte[]> wanted_ = std::make_unique_for_overwrite<std::byte[]>(comparison_size);
  std::unique_ptr<std::byte[]> found_ = std::make_unique_for_overwrite<std::byte[]>(comparison_size);
};

// Compares behind the back of who writes. The thread ends with the object, at the latest.
class Follower {
 public:
  Follower(const Rope& content, int fd, const std::string& path)
      : size_(content.size()), comparison_(content, fd, 0, path), thread_([this] { run(); }) {}

  ~Follower() {
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // So much was written. Throws what comparing threw.
  void advance(uint64_t written) {
    const MutexLock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    written_ = written;
    changed_.notify_all();
  }

  // Waits until all was compared.
  void finish() {
    const MutexLock lock(mutex_);
    while (!error_ && compared_ != size_) changed_.wait(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run() {
    try {
      for (;;) {
        uint64_t from, to;
        {
          const MutexLock lock(mutex_);
          while (!stopped_ && compared_ >= written_) changed_.wait(mutex_);
          if (stopped_) return;
          from = compared_;
          to = std::min(written_, from + longest_direct);
        }
        comparison_.require_same(from, to - from);
        const MutexLock lock(mutex_);
        compared_ = to;
        changed_.notify_all();
      }
    } catch (...) {
      const MutexLock lock(mutex_);
      error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  uint64_t size_;
  Comparison comparison_;
  Mutex mutex_;
  Condition changed_;
  uint64_t written_ ONNXFS_GUARDED_BY(mutex_) = 0;
  uint64_t compared_ ONNXFS_GUARDED_BY(mutex_) = 0;
  bool stopped_ ONNXFS_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ ONNXFS_GUARDED_BY(mutex_);
  std::thread thread_;  // the last, since it uses all of them
};

class Writer {
 public:
  Writer(const Rope& content, int fd, const std::string& path, Disk& disk, const std::function<void(uint64_t)>& told)
      : content_(content), fd_(fd), path_(path), disk_(disk), told_(told), follower_(content, fd, path) {}

  void run() {
    uint64_t end = 0;  // of what was looked at
    for (const Extent& extent : content_.extents()) {
      const auto* file = dynamic_cast<const FileSource*>(extent.source.get());
      end += extent.length;
      if (file == nullptr || extent.length < shortest_direct) continue;
      write_buffered(end - extent.length);
      copy(*file, extent);
    }
    write_buffered(end);
    disk_.flush(fd_, path_);
    follower_.finish();
    content_.require_current();
  }

 private:
  // Up to `end`.
  void write_buffered(uint64_t end) {
    while (at_ < end) {
      const auto piece = std::span(buffer_.get(), static_cast<size_t>(std::min(end - at_, buffer_size)));
      content_.read(at_, piece);
      disk_.write(fd_, piece, at_, path_);
      advance(piece.size());
    }
  }

  void copy(const FileSource& file, const Extent& extent) {
    const uint64_t end = at_ + extent.length;
    for (uint64_t from = extent.offset; at_ < end;) {
      const uint64_t n = std::min(end - at_, longest_direct);
      if (!copies_directly(file, from, n)) return write_buffered(end);
      from += n;
      // A hint, so that the disk is not idle until the flush.
      ::sync_file_range(fd_, static_cast<off_t>(at_), static_cast<off_t>(n), SYNC_FILE_RANGE_WRITE);
      advance(n);
    }
  }

  bool copies_directly(const FileSource& file, uint64_t from, uint64_t length) {
    try {
      disk_.copy(file.descriptor(), from, fd_, at_, length, path_);
      return true;
    } catch (const Error& error) {
      // Between these two file systems the kernel cannot.
      if (error.code() == EXDEV || error.code() == EOPNOTSUPP || error.code() == EINVAL || error.code() == ENOSYS) {
        return false;
      }
      throw;
    }
  }

  void advance(uint64_t length) {
    at_ += length;
    follower_.advance(at_);
    told_(at_);
  }

  const Rope& content_;
  int fd_;
  const std::string& path_;
  Disk& disk_;
  const std::function<void(uint64_t)>& told_;
  uint64_t at_ = 0;  // so much was written
  std::unique_ptr<std::byte[]> buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_size);
  Follower follower_;
};

}  // namespace

void write_checked(const Rope& content, int fd, const std::string& path, Disk& disk,
                   const std::function<void(uint64_t)>& written) {
  Writer(content, fd, path, disk, written).run();
}

void require_same_bytes(const Rope& content, int fd, uint64_t offset, const std::string& path) {
  Comparison(content, fd, offset, path).require_same(0, content.size());
}

bool has_bytes(const Rope& content, const FileSource& file) {
  if (file.size() != content.size()) return false;
  return !Comparison(content, file.descriptor(), 0, file.label()).find_difference(0, content.size());
}

}  // namespace onnxfs
