#pragma once

#include <cstdint>
#include <string_view>

#include "fs/tree.h"

namespace onnxfs {

// The tensor whose file a path in the mount is, such as "initializers/encoder/W.bin"; the suffix may be any that a
// tensor's files have, or be missing. Throws Error(ENOENT).
uint32_t tensor_at_path(const Tree& tree, std::string_view path);

}  // namespace onnxfs
