#include "fs/failed_filesystem.h"

#include <fcntl.h>

#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"

namespace onnxfs {

namespace {

constexpr uint64_t problems_inode = 2;
constexpr std::string_view problems_name = "problems.txt";

}  // namespace

FailedFilesystem::FailedFilesystem(const std::string& reason, timespec mtime, Ownership ownership)
    : text_(printable(reason) + "\n"), mtime_(mtime), ownership_(ownership) {}

Entry FailedFilesystem::lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const {
  if (folder != root_inode) fail(ENOTDIR, "inode {} is no folder", folder);
  absence.reset();
  if (name == problems_name) return entry(problems_inode);
  absence = Absence{lasting};
  return {};
}

Entry FailedFilesystem::entry(uint64_t inode) const {
  if (inode == root_inode) return folder_entry(root_inode, 2, mtime_, ownership_);
  if (inode == problems_inode) return file_entry(problems_inode, text_.size(), mtime_, ownership_);
  fail(ENOENT, "inode {} does not exist", inode);
}

std::unique_ptr<OpenFile> FailedFilesystem::open(uint64_t inode, int flags) const {
  if ((flags & O_ACCMODE) != O_RDONLY) fail(EROFS, "the mount is read-only");
  if (inode != problems_inode) fail(EISDIR, "inode {} is a folder", inode);
  return std::make_unique<SnapshotFile>(Rope::of(text_));
}

void FailedFilesystem::list(uint64_t folder, uint64_t offset, const Visit& visit) const {
  if (folder != root_inode) fail(ENOTDIR, "inode {} is no folder", folder);
  if (offset == 0 && !visit(".", root_inode, S_IFDIR, 1)) return;
  if (offset <= 1 && !visit("..", root_inode, S_IFDIR, 2)) return;
  if (offset <= 2) visit(std::string(problems_name), problems_inode, S_IFREG, 3);
}

size_t FailedFilesystem::attribute_size(uint64_t inode, std::string_view name) const {
  return attribute(inode, name).size();
}

std::string FailedFilesystem::attribute(uint64_t, std::string_view name) const {
  fail(ENODATA, "there is no extended attribute {}", name);
}

struct statvfs FailedFilesystem::statistics() const {
  return {};
}

}  // namespace onnxfs
