#include "core/sidecar/hash.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/bytes/error.h"

namespace onnxfs {

uint64_t xxh3(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t xxh3(const Rope& rope, uint64_t offset, uint64_t length) {
  constexpr uint64_t chunk = 256 * 1024;
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(std::min(chunk, length));
  const auto read = [&](uint64_t size) {
    const std::span piece(buffer.get(), size);
    rope.read(offset, piece);
    offset += size;
    length -= size;
    return piece;
  };
  if (length <= chunk) return xxh3(read(length));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state) fail(ENOMEM, "no memory for a hash");
  XXH3_64bits_reset(state.get());
  while (length != 0) {
    const std::span piece = read(std::min(chunk, length));
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
  }
  return XXH3_64bits_digest(state.get());
}

}  // namespace onnxfs
