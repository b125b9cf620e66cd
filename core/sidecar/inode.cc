#include "core/sidecar/inode.h"

#include <sys/stat.h>

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

Inode Inode::of(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0) fail(EIO, "cannot examine an open file: {}", describe_errno(errno));
  return {status.st_dev, status.st_ino};
}

std::optional<Inode> Inode::at(const std::string& path) noexcept {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return Inode{status.st_dev, status.st_ino};
}

Inodes inodes_of(const Model& model) {
  const auto inode = [](const FileSource& file) { return Inode{file.identity().device, file.identity().inode}; };
  Inodes inodes{inode(*model.file())};
  for (const DataFile& file : model.catalog().data_files()) {
    if (file.source) inodes.insert(inode(*file.source));
  }
  return inodes;
}

}  // namespace onnxfs
