#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/bytes/rope.h"

namespace onnxfs {

// XXH3 of 64 bits, as the sidecar's records carry it.
uint64_t xxh3(std::span<const std::byte> bytes);

// The same of a range of a rope, a piece at a time; what reading it throws.
uint64_t xxh3(const Rope& rope, uint64_t offset, uint64_t length);
inline uint64_t xxh3(const Rope& rope) { return xxh3(rope, 0, rope.size()); }

// How many characters `xxh128` gives.
constexpr size_t xxh128_length = 32;

// XXH3 of 128 bits, as `xxhsum -H2` prints it; reads all of it, and throws what reading it throws.
std::string xxh128(const Rope& content);

}  // namespace onnxfs
