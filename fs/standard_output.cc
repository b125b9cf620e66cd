#include "fs/standard_output.h"

#include <cerrno>
#include <cstdio>

#include "core/bytes/error.h"

namespace onnxfs {

void print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  const int code = errno;
  fail(code, "cannot write to standard output: {}", describe_errno(code));
}

}  // namespace onnxfs
