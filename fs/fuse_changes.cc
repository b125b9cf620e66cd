// The requests of the kernel that change files.
#include <fcntl.h>

#include <fstream>
#include <functional>
#include <limits>
#include <string>

#include "fs/fuse_answer.h"

namespace onnxfs {

namespace {

timespec or_now(bool is_now, timespec time) {
  if (is_now) ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

void on_write(fuse_req_t request, fuse_ino_t, const char* bytes, size_t size, off_t offset, fuse_file_info* info) {
  std::function<void()> prepare;
  answer(request, [&] {
    OpenFile& file = open_file(info);
    file.write(static_cast<uint64_t>(offset), std::as_bytes(std::span(bytes, size)));
    prepare = file.preparation();
    fuse_reply_write(request, size);
  });
  if (prepare) prepare();
}

void on_flush(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  answer(request, [&] {
    OpenFile& file = open_file(info);
    if (file.writable) file.closed_by(process_of(fuse_req_ctx(request)->pid));
    fuse_reply_err(request, 0);
  });
}

void on_fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info* info) {
  answer(request, [&] {
    filesystem(request).flush();
    open_file(info).flushed();
    fuse_reply_err(request, 0);
  });
}

void on_fsyncdir(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
  answer(request, [&] {
    filesystem(request).flush();
    fuse_reply_err(request, 0);
  });
}

void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int what, fuse_file_info* info) {
  answer(request, [&] {
    Filesystem::AttributeChange change;
    if (what & FUSE_SET_ATTR_MODE) change.mode = wanted->st_mode;
    if (what & FUSE_SET_ATTR_UID) change.uid = wanted->st_uid;
    if (what & FUSE_SET_ATTR_GID) change.gid = wanted->st_gid;
    if (what & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW)) {
      change.mtime = or_now((what & FUSE_SET_ATTR_MTIME_NOW) != 0, wanted->st_mtim);
    }
    if (what & FUSE_SET_ATTR_SIZE) {
      const auto size = static_cast<uint64_t>(wanted->st_size);
      if (info != nullptr) open_file(info).resize(size);
      else filesystem(request).resize(inode, size);
    } else {
      filesystem(request).change_attributes(inode, change);
    }
    reply_with_attributes(request, inode, info);
  });
}

void on_create(fuse_req_t request, fuse_ino_t folder, const char* name, mode_t mode, fuse_file_info* info) {
  answer(request, [&] {
    auto created = filesystem(request).create(folder, name, mode, info->flags);
    reply_with_file(request, info, std::move(created.file), &created.entry);
  });
}

void on_rename(fuse_req_t request, fuse_ino_t folder, const char* name, fuse_ino_t new_folder, const char* new_name,
               unsigned flags) {
  answer(request, [&] {
    if ((flags & ~static_cast<unsigned>(RENAME_NOREPLACE)) != 0) fail(EINVAL, "files cannot be exchanged");
    filesystem(request).rename(folder, name, new_folder, new_name, (flags & RENAME_NOREPLACE) == 0);
    fuse_reply_err(request, 0);
  });
}

void on_unlink(fuse_req_t request, fuse_ino_t folder, const char* name) {
  answer(request, [&] {
    filesystem(request).remove(folder, name);
    fuse_reply_err(request, 0);
  });
}

// What a mount has none of.
void refuse_mkdir(fuse_req_t request, fuse_ino_t, const char*, mode_t) { fuse_reply_err(request, EPERM); }
void refuse_mknod(fuse_req_t request, fuse_ino_t, const char*, mode_t, dev_t) { fuse_reply_err(request, EPERM); }
void refuse_rmdir(fuse_req_t request, fuse_ino_t, const char*) { fuse_reply_err(request, EPERM); }
void refuse_symlink(fuse_req_t request, const char*, fuse_ino_t, const char*) { fuse_reply_err(request, EPERM); }
void refuse_link(fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) { fuse_reply_err(request, EPERM); }

}  // namespace

pid_t process_of(pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  pid_t process = thread;
  for (std::string key; status >> key; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (key != "Tgid:") continue;
    status >> process;
    break;
  }
  return process;
}

void add_changes(fuse_lowlevel_ops& operations) {
  operations.write = on_write;
  operations.flush = on_flush;
  operations.fsync = on_fsync;
  operations.fsyncdir = on_fsyncdir;
  operations.setattr = on_setattr;
  operations.create = on_create;
  operations.rename = on_rename;
  operations.unlink = on_unlink;
  operations.mkdir = refuse_mkdir;
  operations.mknod = refuse_mknod;
  operations.rmdir = refuse_rmdir;
  operations.symlink = refuse_symlink;
  operations.link = refuse_link;
}

}  // namespace onnxfs
