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
#include "core/sidecar/folder.h"

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

void remove_remains(const std::string& path, Disk& disk) {
  const std::string temporary = temporary_path(path);
  const UniqueFd fd(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return;
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail(EBUSY, "another commit is writing {}; try again when it has ended", path);
  }
  disk.remove(temporary);
}

TemporaryFile::TemporaryFile(std::string path, const FileSource& like, Disk& disk)
    : path_(std::move(path)), temporary_(temporary_path(path_)), disk_(disk) {
  remove_remains(path_, disk);
  const struct stat status = status_of(like);
  try {
    fd_ = disk.create(temporary_, 0600);
    ::flock(fd_.get(), LOCK_EX | LOCK_NB);  // a file system without locks has no living commits to tell either
    // Where the owner cannot be kept, a file that runs with its owner's rights would have somebody else's.
    constexpr mode_t permission_bits = 0777;
    disk.set_mode(fd_.get(), status.st_mode & permission_bits, status.st_uid, status.st_gid, temporary_);
  } catch (const Error& error) {
    if (error.code() != EEXIST) remove_quietly(disk, temporary_);  // else somebody else's
    throw;
  }
}

TemporaryFile::~TemporaryFile() {
  if (!left_) remove_quietly(disk_, temporary_);
}

void TemporaryFile::fill(const Rope& content, const std::function<void(uint64_t)>& written) {
  write_checked(content, fd_.get(), temporary_, disk_, written);
  const auto file = open();
  size_ = file->identity().size;
  inode_ = file->identity().inode;
}

std::shared_ptr<const FileSource> TemporaryFile::open() const { return FileSource::open(temporary_); }

bool TemporaryFile::is_waiting() const { return exists(temporary_); }

void TemporaryFile::put_in_place() {
  disk_.rename(temporary_, path_);
  left_ = true;
}

}  // namespace onnxfs
