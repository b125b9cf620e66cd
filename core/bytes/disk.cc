#include "core/bytes/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <vector>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

[[noreturn]] void fail_to(const char* what, const std::string& path) {
  const int code = errno;
  fail(code, "cannot {} {}: {}", what, path, describe_errno(code));
}

// Steps over `n` bytes at the front of the pieces.
void advance(std::vector<iovec>& pieces, size_t& first, size_t n) {
  while (n != 0) {
    iovec& piece = pieces[first];
    const size_t step = std::min(n, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + step;
    piece.iov_len -= step;
    n -= step;
    if (piece.iov_len == 0) ++first;
  }
}

}  // namespace

Disk& Disk::real() {
  struct RealDisk final : Disk {};
  static RealDisk disk;
  return disk;
}

UniqueFd Disk::create(const std::string& path, mode_t mode) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd) fail_to("create", path);
  return fd;
}

void Disk::make_folder(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0) fail_to("make the folder", path);
}

void Disk::write(int fd, std::span<const std::byte> bytes, uint64_t offset, const std::string& path) {
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  write(fd, std::span(&piece, 1), offset, path);
}

void Disk::write(int fd, std::span<const iovec> pieces, uint64_t offset, const std::string& path) {
  std::vector<iovec> left(pieces.begin(), pieces.end());
  std::erase_if(left, [](const iovec& piece) { return piece.iov_len == 0; });
  for (size_t first = 0; first < left.size();) {
    const auto count = static_cast<int>(std::min<size_t>(left.size() - first, IOV_MAX));
    const ssize_t n = ::pwritev(fd, &left[first], count, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_to("write to", path);
    if (n == 0) fail(EIO, "cannot write to {}: nothing was written", path);
    advance(left, first, static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
}

void Disk::copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length, const std::string& path) {
  while (length != 0) {
    auto source = static_cast<off_t>(from_offset), target = static_cast<off_t>(to_offset);
    const ssize_t n = ::copy_file_range(from, &source, to, &target, std::min<uint64_t>(length, 1 << 30), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_to("copy into", path);
    if (n == 0) fail(ESTALE, "cannot copy into {}: what is copied was truncated", path);
    from_offset += static_cast<uint64_t>(n);
    to_offset += static_cast<uint64_t>(n);
    length -= static_cast<uint64_t>(n);
  }
}

void Disk::resize(int fd, uint64_t size, const std::string& path) {
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0) fail_to("set the size of", path);
}

void Disk::set_mode(int fd, mode_t mode, uid_t owner, gid_t group, const std::string& path) {
  // Only root may give files away; the mode is what counts to all others.
  if (::fchown(fd, owner, group) != 0 && errno != EPERM) fail_to("set the owner of", path);
  if (::fchmod(fd, mode) != 0) fail_to("set the mode of", path);
}

void Disk::flush(int fd, const std::string& path) {
  if (::fdatasync(fd) != 0) fail_to("flush", path);
}

void Disk::flush_folder(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have no folders that can be flushed, and need none.
  if (!fd || (::fsync(fd.get()) != 0 && errno != EINVAL)) fail_to("flush the folder", path);
}

void Disk::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_to("rename a file to", to);
}

void Disk::rename_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) fail_to("rename a file to", to);
}

void Disk::link(const std::string& from, const std::string& to) {
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) != 0) fail_to("give a file the name", to);
}

void Disk::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) fail_to("remove", path);
}

void Disk::remove_folder(const std::string& path) {
  if (::rmdir(path.c_str()) != 0) fail_to("remove the folder", path);
}

void move_to_free_name(Disk& disk, const std::string& from, const std::string& to) {
  const auto is_supported = [](auto step) {
    try {
      step();
      return true;
    } catch (const Error& error) {
      const int code = error.code();
      // EPERM is what link(2) says of a file system without links.
      if (code != EINVAL && code != ENOSYS && code != EOPNOTSUPP && code != EPERM) throw;
      return false;
    }
  };
  if (is_supported([&] { disk.rename_new(from, to); })) return;
  if (is_supported([&] { disk.link(from, to); })) return disk.remove(from);
  struct stat status;
  if (::lstat(to.c_str(), &status) == 0) fail(EEXIST, "cannot rename a file to {}: {}", to, describe_errno(EEXIST));
  disk.rename(from, to);
}

void remove_quietly(Disk& disk, const std::string& path) noexcept {
  try {
    disk.remove(path);
  } catch (const Error&) {
    return;
  }
}

}  // namespace onnxfs
