// Looking up paths that others wrote, and that may lead anywhere.
#pragma once

#include <cstdint>
#include <string>

#include "core/bytes/unique_fd.h"

namespace onnxfs {

// openat2(2) with close-on-exec, `flags` as of open(2) and `resolve` as RESOLVE_BENEATH. None when it fails, and errno
// tells why.
UniqueFd openat2(int folder, const std::string& path, uint64_t flags, uint64_t resolve);

// Where a path leads: a descriptor that only names it (O_PATH), and its path without links.
struct LookedUp {
  UniqueFd fd;
  std::string path;
};

// Follows a path and its links as the kernel does, but into no mount of onnxfs. In its own a daemon would wait for the
// answer that it is about to make, and not even SIGKILL ends that; two that look into each other's would wait for each
// other. `path` is absolute. Throws Error: EXDEV where it leads into such a mount, else as open(2) does.
LookedUp look_up(const std::string& path);

// Likewise what `name` is in a folder, whose path is absolute: at the cost of one system call where nothing is crossed.
UniqueFd look_up_in(int folder, const std::string& folder_path, const std::string& name);

// Throws Error(ELOOP) when a path is, in its folder, a link that leads into a mount of onnxfs, or such a mount.
void require_outside_mounts(const std::string& path);

// The path under which an open file or folder is found now, wherever it was moved since; "" when it has none.
std::string path_of(int fd);

}  // namespace onnxfs
