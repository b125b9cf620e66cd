#include "core/sidecar/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/sidecar/checked_copy.h"

namespace onnxfs {

namespace {

constexpr std::string_view suffix = ".onnxfs-commit";
constexpr size_t longest_name = 255;

struct stat status_of(const FileSource& file) {
  struct stat status;
  if (::fstat(file.descriptor(), &status) != 0) {
    fail(EIO, "cannot examine {}: {}", file.label(), describe_errno(errno));
  }
  return status;
}

enum class Locking { taken, held_by_another, impossible };

Locking lock(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno == EWOULDBLOCK ? Locking::held_by_another : Locking::impossible;
  }
  return Locking::taken;
}

// To write, since NFS locks no files that are only read.
UniqueFd open_to_lock(const std::string& path) {
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  UniqueFd fd(::open(path.c_str(), O_RDWR | flags));
  if (!fd && (errno == EACCES || errno == EROFS)) fd = UniqueFd(::open(path.c_str(), O_RDONLY | flags));
  return fd;
}

// One attempt; whether there is nothing now.
bool try_to_remove_remains(const std::string& temporary, const std::string& path, const Inodes& inputs, Disk& disk) {
  struct stat status;
  if (::lstat(temporary.c_str(), &status) != 0) {
    const int code = errno;
    if (code == ENOENT) return true;
    fail(code, "cannot examine {}: {}", temporary, describe_errno(code));
  }
  if (!S_ISREG(status.st_mode)) {
    fail(EEXIST, "{} is no regular file, and has the name under which {} is to be written; move it elsewhere",
         temporary, path);
  }
  const Inode found{status.st_dev, status.st_ino};
  if (inputs.contains(found)) {
    fail(EINVAL, "{} is to be read, and has the name under which {} is to be written; rename it", temporary, path);
  }
  const UniqueFd fd = open_to_lock(temporary);
  if (!fd) {
    const int code = errno;
    if (code == ENOENT || code == ELOOP) return false;
    fail(code, "cannot open {}, which is in the way: {}", temporary, describe_errno(code));
  }
  const Locking locking = lock(fd.get());
  if (locking == Locking::held_by_another) {
    fail(EBUSY, "another process is writing {}; try again when it has ended", path);
  }
  if (locking == Locking::impossible) {
    fail(ENOLCK,
         "{} is there, and this file system does not tell whether a process is writing it; remove it if none is",
         temporary);
  }
  // Who makes a file may have removed it, and made another, before it was locked here.
  if (Inode::of(fd.get()) != found || Inode::at(temporary) != found) return false;
  disk.remove(temporary);
  return true;
}

// Of one that could not be made, though something may be there now.
void remove_remains_quietly(const std::string& path, const Inodes& inputs, Disk& disk) noexcept {
  try {
    remove_remains(path, inputs, disk);
  } catch (const Error&) {
    return;
  }
}

// A new file, which is locked, and still has its name: whoever came between the two took it for remains.
UniqueFd create_locked(const std::string& temporary, const std::string& path, const Inodes& inputs, Disk& disk) {
  for (;;) {
    remove_remains(path, inputs, disk);
    UniqueFd fd;
    try {
      fd = disk.create(temporary, 0600);
    } catch (const Error& error) {
      if (error.code() == EEXIST) continue;
      remove_remains_quietly(path, inputs, disk);
      throw;
    }
    // Where there are no locks, nobody removes what may be living.
    if (lock(fd.get()) != Locking::held_by_another && Inode::at(temporary) == Inode::of(fd.get())) return fd;
  }
}

}  // namespace

std::string temporary_path(const std::string& path) {
  const std::filesystem::path target(path);
  std::string name = target.filename();
  if (name.size() + suffix.size() + 1 > longest_name) {
    constexpr size_t kept = 200;
    name = fmt::format("{}~{:016x}", name.substr(0, kept), XXH3_64bits(name.data(), name.size()));
  }
  return target.parent_path() / fmt::format(".{}{}", name, suffix);
}

bool is_temporary_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  return name.starts_with('.') && name.ends_with(suffix);
}

void remove_remains(const std::string& path, const Inodes& inputs, Disk& disk) {
  const std::string temporary = temporary_path(path);
  while (!try_to_remove_remains(temporary, path, inputs, disk)) continue;
}

TemporaryFile::TemporaryFile(std::string path, const FileSource& like, const Inodes& inputs, Disk& disk)
    : path_(std::move(path)), temporary_(temporary_path(path_)), disk_(disk) {
  const struct stat status = status_of(like);
  fd_ = create_locked(temporary_, path_, inputs, disk_);
  inode_ = Inode::of(fd_.get());
  try {
    // Where the owner cannot be kept, a file that runs with its owner's rights would have somebody else's.
    constexpr mode_t permission_bits = 0777;
    disk.set_mode(fd_.get(), status.st_mode & permission_bits, status.st_uid, status.st_gid, temporary_);
  } catch (const Error&) {
    remove_quietly(disk_, temporary_);
    throw;
  }
}

TemporaryFile::~TemporaryFile() {
  if (!left_ && Inode::at(temporary_) == inode_) remove_quietly(disk_, temporary_);
}

void TemporaryFile::fill(const Rope& content, const std::function<void(uint64_t)>& written) {
  write_checked(content, fd_.get(), temporary_, disk_, written);
  size_ = open()->size();
}

std::shared_ptr<const FileSource> TemporaryFile::open() const {
  UniqueFd fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!fd) fail(errno, "cannot open {} once more: {}", temporary_, describe_errno(errno));
  return FileSource::adopt(std::move(fd), temporary_);
}

void TemporaryFile::require_temporary_name() const {
  if (Inode::at(temporary_) == inode_) return;
  fail(ESTALE, "{} was removed or replaced by another process while it was being written; {} is as it was", temporary_,
       path_);
}

void TemporaryFile::replace() {
  require_temporary_name();
  disk_.rename(temporary_, path_);
}

void TemporaryFile::put_in_place() {
  require_temporary_name();
  try {
    move_to_free_name(disk_, temporary_, path_);
  } catch (const Error& error) {
    if (error.code() != EEXIST) throw;
    fail(EEXIST, "{} appeared while it was being written, and was left alone; remove it, or choose another name",
         path_);
  }
}

bool TemporaryFile::is_in_place() const noexcept { return Inode::at(path_) == inode_; }

void TemporaryFile::withdraw() noexcept {
  if (is_in_place()) remove_quietly(disk_, path_);
}

}  // namespace onnxfs
