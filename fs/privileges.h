#pragma once

#include <fuse_lowlevel.h>

namespace onnxfs {

// Before each write(2), the kernel asks a file system for the extended attribute in which a file's capabilities would
// be, so that the write takes them away: a second request for every one, which costs as much as a small write itself.
// A file system that says that it takes them away itself (FUSE_HANDLE_KILLPRIV_V2, Linux 5.11) is asked once a file.
// This says so, as libfuse has no word for it: it adds the flag to the answer to the kernel's hello. It is no more than
// the truth, since no file of a mount has capabilities or set-user-id bits, nor takes them.
//
// Of a session that is mounted, whose user data is a FuseServer, and that does not serve yet.
void take_over_privileges(fuse_session* session);

}  // namespace onnxfs
