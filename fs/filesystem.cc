#include "fs/filesystem.h"

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

constexpr mode_t file_mode = S_IFREG | 0444;
constexpr mode_t folder_mode = S_IFDIR | 0555;
constexpr mode_t writable_by_owner = 0200;
constexpr uint64_t block = 512;  // of st_blocks
constexpr blksize_t page = 4096;

Entry entry_of_mode(uint64_t inode, mode_t mode, timespec mtime, const Ownership& ownership) {
  Entry entry;
  entry.attributes_valid = entry.name_valid = lasting;
  entry.attributes.st_ino = inode;
  entry.attributes.st_mode = mode & ~ownership.umask;
  entry.attributes.st_nlink = 1;
  entry.attributes.st_uid = ownership.uid;
  entry.attributes.st_gid = ownership.gid;
  entry.attributes.st_blksize = page;
  entry.attributes.st_atim = entry.attributes.st_mtim = entry.attributes.st_ctim = mtime;
  return entry;
}

[[noreturn]] void refuse_change() { fail(EROFS, "the mount is read-only"); }

}  // namespace

void OpenFile::write(uint64_t, std::span<const std::byte>) { fail(EBADF, "the file is not open for writing"); }
void OpenFile::resize(uint64_t) { fail(EBADF, "the file is not open for writing"); }

Filesystem::Created Filesystem::create(uint64_t, std::string_view, mode_t, int) { refuse_change(); }
void Filesystem::resize(uint64_t, uint64_t) { refuse_change(); }
void Filesystem::change_attributes(uint64_t, const AttributeChange&) { refuse_change(); }
void Filesystem::rename(uint64_t, std::string_view, uint64_t, std::string_view, bool) { refuse_change(); }
void Filesystem::remove(uint64_t, std::string_view) { refuse_change(); }

Entry file_entry(uint64_t inode, uint64_t size, timespec mtime, const Ownership& ownership) {
  Entry entry = entry_of_mode(inode, file_mode, mtime, ownership);
  entry.attributes.st_size = static_cast<off_t>(size);
  entry.attributes.st_blocks = static_cast<blkcnt_t>(size / block + (size % block != 0));
  return entry;
}

Entry folder_entry(uint64_t inode, nlink_t links, timespec mtime, const Ownership& ownership) {
  const mode_t mode = ownership.writable ? folder_mode | writable_by_owner : folder_mode;
  Entry entry = entry_of_mode(inode, mode, mtime, ownership);
  entry.attributes.st_nlink = links;
  return entry;
}

}  // namespace onnxfs
