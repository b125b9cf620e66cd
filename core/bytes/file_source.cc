#include "core/bytes/file_source.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <ctime>

#include "core/bytes/error.h"

namespace onnxfs {

FileIdentity FileIdentity::of(const struct stat& status) noexcept {
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size), status.st_mtim};
}

bool FileIdentity::operator==(const FileIdentity& other) const noexcept {
  return device == other.device && inode == other.inode && size == other.size && mtime.tv_sec == other.mtime.tv_sec &&
         mtime.tv_nsec == other.mtime.tv_nsec;
}

std::shared_ptr<const FileSource> FileSource::open(const std::string& path) {
  // O_NONBLOCK: a FIFO or a device must not hold us up before we have seen what it is.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int code = errno;
    fail(code, "cannot open {}: {}", path, describe_errno(code));
  }
  return adopt(std::move(fd), path);
}

std::shared_ptr<const FileSource> FileSource::adopt(UniqueFd fd, std::string label) {
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) {
    const int code = errno;
    fail(code, "cannot stat {}: {}", label, describe_errno(code));
  }
  if (S_ISDIR(status.st_mode)) fail(EISDIR, "{} is a directory, not a file", label);
  if (!S_ISREG(status.st_mode)) fail(EINVAL, "{} is not a regular file", label);
  return std::shared_ptr<const FileSource>(new FileSource(std::move(fd), FileIdentity::of(status), std::move(label)));
}

FileSource::FileSource(UniqueFd fd, FileIdentity identity, std::string label)
    : fd_(std::move(fd)), identity_(identity), label_(std::move(label)) {}

FileSource::~FileSource() {
  if (map_ != nullptr) ::munmap(const_cast<std::byte*>(map_), identity_.size);
}

void FileSource::read(uint64_t offset, std::span<std::byte> out) const {
  require_current();
  while (!out.empty()) {
    const ssize_t n = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(EIO, "cannot read {} at offset {}: {}", label_, offset, describe_errno(errno));
    if (n == 0) fail(ESTALE, "{} ended at offset {} while it was read; it was truncated", label_, offset);
    out = out.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
}

Borrowed FileSource::borrow(uint64_t offset, size_t length) const {
  const std::byte* base = map();
  if (base == nullptr) return Source::borrow(offset, length);
  require_current_this_tick();
  return {base + offset, length, nullptr};
}

std::string FileSource::staleness() const {
  struct stat now;
  if (::fstat(fd_.get(), &now) != 0) return fmt::format("{} cannot be examined: {}", label_, describe_errno(errno));
  if (FileIdentity::of(now) == identity_) return {};
  if (static_cast<uint64_t>(now.st_size) != identity_.size) {
    return fmt::format("{} changed on disk: it was {} bytes when it was opened and is {} now; remount to read it",
                       label_, identity_.size, static_cast<uint64_t>(now.st_size));
  }
  return fmt::format("{} was written to after it was opened; remount to read it", label_);
}

void FileSource::advise(int advice) const noexcept { ::posix_fadvise(fd_.get(), 0, 0, advice); }

void FileSource::require_current() const {
  struct stat now;
  if (::fstat(fd_.get(), &now) == 0 && FileIdentity::of(now) == identity_) return;
  throw Error(ESTALE, staleness());
}

void FileSource::require_current_this_tick() const {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t tick = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  if (current_at_.load(std::memory_order_relaxed) == tick) return;
  require_current();
  current_at_.store(tick, std::memory_order_relaxed);
}

const std::byte* FileSource::map() const {
  std::call_once(mapped_, [this] {
    if (identity_.size == 0) return;
    void* address = ::mmap(nullptr, identity_.size, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (address != MAP_FAILED) map_ = static_cast<const std::byte*>(address);
  });
  return map_;
}

}  // namespace onnxfs
