#include "fs/privileges.h"

#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "fs/fuse_operations.h"

namespace onnxfs {

namespace {

// Whether it is the kernel's hello, by a kernel that knows the flag.
bool is_hello(const char* request, size_t size) {
  fuse_in_header header;
  fuse_init_in hello;
  constexpr size_t flags_end = offsetof(fuse_init_in, flags) + sizeof hello.flags;
  if (size < sizeof header + flags_end) return false;
  std::memcpy(&header, request, sizeof header);
  if (header.opcode != FUSE_INIT) return false;
  std::memcpy(&hello, request + sizeof header, flags_end);
  return (hello.flags & FUSE_HANDLE_KILLPRIV_V2) != 0;
}

ssize_t read_request(int device, void* buffer, size_t room, void* user_data) {
  const ssize_t n = ::read(device, buffer, room);
  const auto* request = static_cast<const char*>(buffer);
  if (n > 0 && is_hello(request, static_cast<size_t>(n))) {
    fuse_in_header header;
    std::memcpy(&header, request, sizeof header);
    static_cast<FuseServer*>(user_data)->hello = header.unique;
  }
  return n;
}

// An answer is a header, and what is answered.
ssize_t write_answer(int device, iovec* pieces, int count, void* user_data) {
  auto& hello = static_cast<FuseServer*>(user_data)->hello;
  if (hello != 0) {
    fuse_out_header header;
    std::memcpy(&header, pieces[0].iov_base, sizeof header);
    if (header.unique == hello) {
      hello = 0;
      fuse_init_out answer;
      constexpr size_t flags_end = offsetof(fuse_init_out, flags) + sizeof answer.flags;
      if (header.error == 0 && count == 2 && pieces[1].iov_len >= flags_end) {
        std::memcpy(&answer, pieces[1].iov_base, flags_end);
        answer.flags |= FUSE_HANDLE_KILLPRIV_V2;
        std::memcpy(pieces[1].iov_base, &answer, flags_end);
      }
    }
  }
  return ::writev(device, pieces, count);
}

}  // namespace

void take_over_privileges(fuse_session* session) {
  const fuse_custom_io io{write_answer, read_request, nullptr, nullptr};
  // Where that is refused, libfuse goes on as it would have.
  fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

}  // namespace onnxfs
