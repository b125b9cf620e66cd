#pragma once

#include <sys/resource.h>

namespace onnxfs {

// A model may keep each tensor in a file of its own, and all of them stay open: as many as this process is allowed.
inline void allow_many_files() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace onnxfs
