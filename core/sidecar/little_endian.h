#pragma once

#include <cstddef>
#include <cstdint>

namespace onnxfs {

// Numbers as the sidecar's files hold them, whatever the machine's own order is.
template <typename Number>
void store_little_endian(Number number, std::byte* to) noexcept {
  for (size_t i = 0; i < sizeof number; ++i) to[i] = static_cast<std::byte>(static_cast<uint64_t>(number) >> (8 * i));
}

template <typename Number>
Number load_little_endian(const std::byte* from) noexcept {
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) number |= std::to_integer<uint64_t>(from[i]) << (8 * i);
  return static_cast<Number>(number);
}

}  // namespace onnxfs
