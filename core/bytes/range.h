#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace onnxfs {

// [begin, end) in a source, in bytes. Checked where it enters (Reader, DataFiles) and trusted after.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const noexcept { return end - begin; }
  bool empty() const noexcept { return begin == end; }
  bool operator==(const ByteRange&) const = default;
};

// Whether [offset, offset + length) lies in [0, size), for any three numbers.
constexpr bool fits(uint64_t offset, uint64_t length, uint64_t size) noexcept {
  return offset <= size && length <= size - offset;
}

constexpr std::optional<uint64_t> checked_multiply(uint64_t a, uint64_t b) noexcept {
  if (b != 0 && a > std::numeric_limits<uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

}  // namespace onnxfs
