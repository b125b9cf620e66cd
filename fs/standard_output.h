#pragma once

#include <string_view>

namespace onnxfs {

// Writes all of it, now. Throws Error with the system's errno: a full disk must not pass for a short answer.
void print_out(std::string_view text);

}  // namespace onnxfs
