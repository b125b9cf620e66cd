// What the callbacks of all requests share.
#pragma once

#include <fuse_lowlevel.h>
#include <spdlog/spdlog.h>

#include <new>

#include "core/bytes/error.h"
#include "fs/fuse_operations.h"

namespace onnxfs {

inline FuseServer& server(fuse_req_t request) { return *static_cast<FuseServer*>(fuse_req_userdata(request)); }
inline Filesystem& filesystem(fuse_req_t request) { return server(request).filesystem; }
inline OpenFile& open_file(const fuse_file_info* info) { return *reinterpret_cast<OpenFile*>(info->fh); }

// What a user cannot see in the errno goes to the log, each sentence once: a program that reads a broken tensor in a
// loop should not fill the disk.
void log_once(const Error& error);

fuse_entry_param to_fuse(const Entry& entry);

// The process that a thread belongs to: requests name the thread that they come from. When it cannot be seen, the
// thread itself.
pid_t process_of(pid_t thread);

// Replies with what an inode looks like, through a file that was opened or (null) to all.
void reply_with_attributes(fuse_req_t request, uint64_t inode, const fuse_file_info* info);

// Replies to an opening, and gives the file away to the kernel's handle on it.
void reply_with_file(fuse_req_t request, fuse_file_info* info, std::unique_ptr<OpenFile> file, const Entry* created);

// Runs a request's work, and answers with an error when it throws. The work replies only as the last thing it does.
template <typename Work>
void answer(fuse_req_t request, Work work) noexcept {
  int code = 0;
  try {
    work();
    return;
  } catch (const Error& error) {
    log_once(error);
    code = error.code();
  } catch (const std::bad_alloc&) {
    code = ENOMEM;
  } catch (const std::exception& error) {
    spdlog::error("unexpected: {}", error.what());
    code = EIO;
  }
  fuse_reply_err(request, code);
}

// The requests that change something: fuse_changes.cc.
void add_changes(fuse_lowlevel_ops& operations);

}  // namespace onnxfs
