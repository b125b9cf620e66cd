#include "core/sidecar/hash.h"

#include <xxhash.h>

#include <cerrno>
#include <memory>

#include "core/bytes/error.h"

namespace onnxfs {

uint64_t xxh3(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t xxh3(const Rope& rope, uint64_t offset, uint64_t length) {
  constexpr uint64_t chunk = 256 * 1024;
  if (length <= chunk) {  // as most edits: no state is made for them
    const auto bytes = std::make_unique_for_overwrite<std::byte[]>(length);
    rope.read(offset, {bytes.get(), length});
    return xxh3(std::span(bytes.get(), length));
  }
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state) fail(ENOMEM, "no memory for a hash");
  XXH3_64bits_reset(state.get());
  read_in_pieces(rope, offset, length, chunk, [&state](uint64_t, std::span<const std::byte> piece) {
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
  });
  return XXH3_64bits_digest(state.get());
}

}  // namespace onnxfs
