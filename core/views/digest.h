#pragma once

#include <string>

#include "core/bytes/rope.h"

namespace onnxfs {

// How many characters `xxh128` gives.
constexpr size_t xxh128_length = 32;

// The XXH3 hash of 128 bits of a file's content, as `xxhsum -H2` prints it. Reads all of it.
std::string xxh128(const Rope& content);

}  // namespace onnxfs
