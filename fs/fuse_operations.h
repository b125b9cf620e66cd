#pragma once

#include <fuse_lowlevel.h>

#include <atomic>
#include <functional>

#include "fs/file_handles.h"
#include "fs/filesystem.h"

namespace onnxfs {

// What the requests of one session work on: the user data of the session. The file system does everything; the
// callbacks only translate. libfuse calls them from several threads at once.
struct FuseServer {
  Filesystem& filesystem;
  std::function<void()> on_ready;    // called once, when the kernel has said its hello: requests will be answered
  fuse_session* session = nullptr;   // from then on
  bool folders_need_opening = true;  // by kernels that know no other way (before Linux 5.1)
  FileHandles file_handles = {};
  std::atomic<uint64_t> hello = 0;  // the request whose answer privileges.cc adds to
};

const fuse_lowlevel_ops& fuse_operations();

}  // namespace onnxfs
