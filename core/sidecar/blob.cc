#include "core/sidecar/blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/file_source.h"
#include "core/sidecar/record.h"

namespace onnxfs {

std::string blob_path(const std::string& folder, uint32_t number) {
  return fmt::format("{}/{:08}.blob", folder, number);
}

BlobPtr Blob::create(Disk& disk, const std::string& folder, uint32_t number, uint64_t log_id, uint64_t capacity) {
  std::string path = blob_path(folder, number);
  UniqueFd fd = disk.create(path, 0600);
  try {
    disk.write(fd.get(), BlobHeader{log_version, number, log_id}.encode(), 0, path);
  } catch (const Error&) {
    try {
      disk.remove(path);
    } catch (const Error&) {
      // A blob without records, which the next writer removes.
    }
    throw;
  }
  return BlobPtr(new Blob(std::move(fd), std::move(path), number, capacity, true));
}

BlobPtr Blob::open(const std::string& folder, uint32_t number, uint64_t capacity) {
  std::string path = blob_path(folder, number);
  bool writable = true;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && (errno == EACCES || errno == EROFS || errno == EPERM)) {
    writable = false;
    fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  }
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    const int code = errno;
    fail(code, "cannot open {}: {}", path, describe_errno(code));
  }
  if (!S_ISREG(status.st_mode)) fail(EBADMSG, "{} is not a regular file", path);
  capacity = std::max(capacity, static_cast<uint64_t>(status.st_size));
  return BlobPtr(new Blob(std::move(fd), std::move(path), number, capacity, writable));
}

Blob::Blob(UniqueFd fd, std::string path, uint32_t number, uint64_t capacity, bool writable)
    : fd_(std::move(fd)), path_(std::move(path)), number_(number), capacity_(capacity), writable_(writable) {
  void* address = ::mmap(nullptr, capacity_, PROT_READ, MAP_SHARED, fd_.get(), 0);
  if (address != MAP_FAILED) map_ = static_cast<const std::byte*>(address);
}

Blob::~Blob() {
  if (map_ != nullptr) ::munmap(const_cast<std::byte*>(map_), capacity_);
}

size_t Blob::read_some(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::pread(fd_.get(), &out[done], out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(EIO, "cannot read {} at offset {}: {}", path_, offset + done, describe_errno(errno));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

void Blob::read(uint64_t offset, std::span<std::byte> out) const {
  const size_t n = read_some(offset, out);
  if (n != out.size()) fail(EIO, "{} ended at offset {} while it was read; it was truncated", path_, offset + n);
}

Borrowed Blob::borrow(uint64_t offset, size_t length) const {
  if (map_ == nullptr) return Source::borrow(offset, length);
  return {map_ + offset, length, nullptr};
}

}  // namespace onnxfs
