#include "fs/filesystem.h"

namespace onnxfs {

namespace {

constexpr mode_t file_mode = S_IFREG | 0444;
constexpr mode_t folder_mode = S_IFDIR | 0555;
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

}  // namespace

Entry file_entry(uint64_t inode, uint64_t size, timespec mtime, const Ownership& ownership) {
  Entry entry = entry_of_mode(inode, file_mode, mtime, ownership);
  entry.attributes.st_size = static_cast<off_t>(size);
  entry.attributes.st_blocks = static_cast<blkcnt_t>(size / block + (size % block != 0));
  return entry;
}

Entry folder_entry(uint64_t inode, nlink_t links, timespec mtime, const Ownership& ownership) {
  Entry entry = entry_of_mode(inode, folder_mode, mtime, ownership);
  entry.attributes.st_nlink = links;
  return entry;
}

}  // namespace onnxfs
