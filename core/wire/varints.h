// Packed numbers (reader.h says how one is written), many at a time.
#pragma once

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/wire/window.h"

namespace onnxfs::wire {

// Calls visit(value) for the numbers that stand from `at` on, for at most so many, and moves `at` behind the last of
// them. Returns how many there were; fewer than `most` only when they end at `end`. Throws Error(EBADMSG) with the
// offset where the bytes are no numbers.
template <typename Visit>
uint64_t visit_varints(Window& window, uint64_t& at, uint64_t end, uint64_t most, Visit visit) {
  constexpr uint32_t longest = 10;
  uint64_t visited = 0;
  uint64_t value = 0;
  uint32_t length = 0;  // of the number that has begun
  while (visited < most && at != end) {
    const auto bytes = window.at(at, static_cast<size_t>(std::min<uint64_t>(end - at, SIZE_MAX)));
    size_t i = 0;
    for (; i < bytes.size() && visited < most; ++i) {
      const auto byte = std::to_integer<uint64_t>(bytes[i]);
      if (length == longest) fail(EBADMSG, "corrupt at offset {}: a number of more than {} bytes", at + i, longest);
      // The tenth byte holds one bit that counts; what is above is dropped, as protobuf does.
      value |= (byte & 0x7f) << (7 * length++);
      if (byte >= 0x80) continue;
      visit(value);
      ++visited;
      value = length = 0;
    }
    at += i;
  }
  if (length != 0) fail(EBADMSG, "truncated at offset {}: a number does not end", at);
  return visited;
}

}  // namespace onnxfs::wire
