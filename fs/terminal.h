#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <optional>

namespace onnxfs {

// How wide the terminal is that a descriptor is of; nothing when it is of none, or of one that does not tell.
inline std::optional<size_t> terminal_columns(int fd) {
  winsize size = {};
  if (::isatty(fd) == 0 || ::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

// What is taken for the width where none is known.
inline constexpr size_t usual_columns = 80;

}  // namespace onnxfs
