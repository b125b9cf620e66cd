#pragma once

#include <cstdint>
#include <optional>

#include "core/bytes/rope.h"

namespace onnxfs {

// How many strings a payload of strings holds (see string_length_prefix); nothing when it is none, because a length
// leads past its end.
std::optional<uint64_t> count_strings(const Rope& payload);

}  // namespace onnxfs
