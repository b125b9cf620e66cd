#include "fs/fuse_operations.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/bytes/mutex.h"
#include "fs/fuse_answer.h"
#include "fs/invalidator.h"

namespace onnxfs {

void log_once(const Error& error) {
  constexpr size_t most_remembered = 1000;
  static Mutex mutex;
  static std::set<std::string> logged ONNXFS_GUARDED_BY(mutex);
  switch (error.code()) {
    case ENOENT:  // what programs ask and do every day
    case ENODATA:
    case EEXIST:
    case EPERM:
    case EFBIG:
    case EBADF: return;
    default: break;
  }
  const MutexLock lock(mutex);
  if (logged.size() >= most_remembered) logged.clear();
  if (logged.insert(error.what()).second) spdlog::warn("{}", error.what());
}

fuse_entry_param to_fuse(const Entry& entry) {
  fuse_entry_param result{};
  result.ino = entry.attributes.st_ino;
  result.attr = entry.attributes;
  result.attr_timeout = entry.attributes_valid;
  result.entry_timeout = entry.name_valid;
  return result;
}

void reply_with_attributes(fuse_req_t request, uint64_t inode, const fuse_file_info* info) {
  Entry entry = filesystem(request).entry(inode);
  if (info != nullptr && info->fh != 0) {
    const auto size = static_cast<off_t>(open_file(info).own_size().value_or(entry.attributes.st_size));
    if (size != entry.attributes.st_size) {
      entry.attributes.st_size = size;
      entry.attributes_valid = 0;
    }
  }
  fuse_reply_attr(request, &entry.attributes, entry.attributes_valid);
}

void reply_with_file(fuse_req_t request, fuse_file_info* info, std::unique_ptr<OpenFile> file, const Entry* created) {
  file->opener = file->writable ? process_of(fuse_req_ctx(request)->pid) : 0;
  info->keep_cache = file->keep_cache && !file->direct;
  info->direct_io = file->direct;
  info->noflush = !file->writable;
  OpenFile* const handle = server(request).file_handles.add(std::move(file));
  info->fh = reinterpret_cast<uint64_t>(handle);
  int status = 0;
  if (created != nullptr) {
    const fuse_entry_param entry = to_fuse(*created);
    status = fuse_reply_create(request, &entry, info);
  } else {
    status = fuse_reply_open(request, info);
  }
  // When the open was interrupted there will be no release.
  if (status != 0) server(request).file_handles.take(handle);
}

namespace {

// We are asked by a thread of our own when what a model names, or a link beside it, leads into the mount that shows it.
// The answer might be the one that the thread is about to make, and not even SIGKILL ends such a wait. Reads need not
// look: who asks so opens nothing.
void refuse_ourselves(fuse_req_t request) {
  static const pid_t ourselves = ::getpid();  // nothing is served before the daemon has forked
  const pid_t thread = fuse_req_ctx(request)->pid;
  if (::syscall(SYS_tgkill, ourselves, thread, 0) == 0) {
    fail(EDEADLK, "something that a model needs lies in its own mount");
  }
}

void on_init(void* user, fuse_conn_info* connection) {
  // Mapped sources are faster than splicing (and simpler), a cache that writes back would trust its own idea of
  // sizes over ours.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                                             FUSE_CAP_WRITEBACK_CACHE);
  // What is read ahead of a slow disk is not to keep what is read ahead of others waiting.
  connection->max_background = 256;
  auto& server = *static_cast<FuseServer*>(user);
  server.folders_need_opening = (connection->capable & FUSE_CAP_NO_OPENDIR_SUPPORT) == 0;
  server.on_ready();
}

void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer(request, [&] {
    refuse_ourselves(request);
    std::optional<Absence> absence;
    const Entry entry = filesystem(request).lookup(parent, name, absence);
    fuse_entry_param reply = to_fuse(entry);
    if (absence) reply.entry_timeout = absence->valid;  // inode 0: the kernel remembers that there is none
    fuse_reply_entry(request, &reply);
  });
}

void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  answer(request, [&] {
    refuse_ourselves(request);
    reply_with_attributes(request, inode, info);
  });
}

// access(2), where the kernel does not check permissions itself. The mode bits say what a file is for, to anybody.
void on_access(fuse_req_t request, fuse_ino_t inode, int wanted) {
  answer(request, [&] {
    refuse_ourselves(request);
    const mode_t mode = filesystem(request).entry(inode).attributes.st_mode;
    const auto may = [mode](mode_t bits) { return (mode & bits) != 0; };
    int status = 0;
    if ((wanted & W_OK) != 0 && !may(S_IWUSR | S_IWGRP | S_IWOTH)) status = EROFS;
    else if ((wanted & X_OK) != 0 && !may(S_IXUSR | S_IXGRP | S_IXOTH)) status = EACCES;
    fuse_reply_err(request, status);
  });
}

void on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  answer(request, [&] {
    refuse_ourselves(request);
    auto file = filesystem(request).open(inode, info->flags);
    if (!file->keep_cache) {
      // Its size may be another too, and the kernel would cut what is read at the size that it knows. Told of cached
      // pages it would wait for those who read them, and a request must not; told of attributes alone it waits for
      // nobody: who opens a file holds its inode.
      forget_attributes(server(request).session, inode);
    }
    reply_with_file(request, info, std::move(file), nullptr);
  });
}

void on_release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  const auto file = server(request).file_handles.take(&open_file(info));
  try {
    // Stores into a map may have come after the last close.
    if (file->writable) file->closed_by(file->opener);
  } catch (const Error& error) {
    log_once(error);  // nobody waits for it
  }
  fuse_reply_err(request, 0);
}

void on_read(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info* info) {
  answer(request, [&] {
    // Held until the reply is over: by then another thread may have released the file.
    const Rope content = open_file(info).content();
    const auto from = std::min(static_cast<uint64_t>(offset), content.size());
    const BorrowedBytes bytes = content.borrow(from, std::min<uint64_t>(size, content.size() - from));
    fuse_reply_iov(request, bytes.pieces.data(), static_cast<int>(bytes.pieces.size()));
  });
}

// A folder has no state of its own, and its list may be cached until its modification time changes. ENOSYS tells the
// kernel both at once: it never asks again, which halves what walking a tree of many small folders costs.
void on_opendir(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  if (!server(request).folders_need_opening) {
    fuse_reply_err(request, ENOSYS);
    return;
  }
  info->cache_readdir = 1;
  info->keep_cache = 1;
  fuse_reply_open(request, info);
}

// Fills a buffer of `size` bytes with entries. `add` appends one and returns its size, written or not.
template <typename Add>
void reply_list(fuse_req_t request, fuse_ino_t folder, size_t size, off_t offset, Add add) {
  answer(request, [&] {
    refuse_ourselves(request);
    std::vector<char> buffer(size);
    size_t used = 0;
    filesystem(request).list(folder, static_cast<uint64_t>(offset),
                             [&](const std::string& name, uint64_t inode, mode_t type, uint64_t next) {
                               const size_t n =
                                   add(buffer.data() + used, size - used, name, inode, type, static_cast<off_t>(next));
                               if (n > size - used) return false;
                               used += n;
                               return true;
                             });
    fuse_reply_buf(request, buffer.data(), used);
  });
}

void on_readdir(fuse_req_t request, fuse_ino_t folder, size_t size, off_t offset, fuse_file_info*) {
  reply_list(request, folder, size, offset,
             [request](char* out, size_t room, const std::string& name, uint64_t inode, mode_t type, off_t next) {
               struct stat attributes = {};
               attributes.st_ino = inode;
               attributes.st_mode = type;
               return fuse_add_direntry(request, out, room, name.c_str(), &attributes, next);
             });
}

void on_readdirplus(fuse_req_t request, fuse_ino_t folder, size_t size, off_t offset, fuse_file_info*) {
  reply_list(request, folder, size, offset,
             [request](char* out, size_t room, const std::string& name, uint64_t inode, mode_t type, off_t next) {
               // The kernel takes no attributes of the dots, and the entry that does not fit need not be examined.
               const bool dots = name == "." || name == "..";
               fuse_entry_param entry{};
               if (!dots && fuse_add_direntry_plus(request, nullptr, 0, name.c_str(), nullptr, 0) <= room) {
                 entry = to_fuse(filesystem(request).entry(inode));
               } else {
                 entry.attr.st_ino = inode;
                 entry.attr.st_mode = type;
               }
               return fuse_add_direntry_plus(request, out, room, name.c_str(), &entry, next);
             });
}

// Answers a question for an extended attribute, or for the list of their names, in the two steps of getxattr(2).
void reply_attribute(fuse_req_t request, std::string_view value, size_t room) {
  if (room == 0) fuse_reply_xattr(request, value.size());
  else if (value.size() > room) fuse_reply_err(request, ERANGE);
  else fuse_reply_buf(request, value.data(), value.size());
}

void on_getxattr(fuse_req_t request, fuse_ino_t inode, const char* name, size_t room) {
  answer(request, [&] {
    refuse_ourselves(request);
    // The size first: what is dear to compute is not computed to be counted.
    const size_t size = filesystem(request).attribute_size(inode, name);
    if (room == 0) fuse_reply_xattr(request, size);
    else if (size > room) fuse_reply_err(request, ERANGE);
    else reply_attribute(request, filesystem(request).attribute(inode, name), room);
  });
}

void on_listxattr(fuse_req_t request, fuse_ino_t inode, size_t room) {
  answer(request, [&] {
    refuse_ourselves(request);
    std::string names;
    for (const std::string_view name : filesystem(request).attribute_names(inode)) names.append(name).push_back('\0');
    reply_attribute(request, names, room);
  });
}

void on_statfs(fuse_req_t request, fuse_ino_t) {
  answer(request, [&] {
    const struct statvfs statistics = filesystem(request).statistics();
    fuse_reply_statfs(request, &statistics);
  });
}

}  // namespace

const fuse_lowlevel_ops& fuse_operations() {
  static const fuse_lowlevel_ops operations = [] {
    fuse_lowlevel_ops ops{};
    ops.init = on_init;
    ops.lookup = on_lookup;
    ops.getattr = on_getattr;
    ops.access = on_access;
    ops.open = on_open;
    ops.read = on_read;
    ops.release = on_release;
    ops.opendir = on_opendir;
    ops.readdir = on_readdir;
    ops.readdirplus = on_readdirplus;
    ops.getxattr = on_getxattr;
    ops.listxattr = on_listxattr;
    ops.statfs = on_statfs;
    add_changes(ops);
    return ops;
  }();
  return operations;
}

}  // namespace onnxfs
