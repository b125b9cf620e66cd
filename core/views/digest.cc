#include "core/views/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <memory>

#include "core/bytes/error.h"

namespace onnxfs {

std::string xxh128(const Rope& content) {
  constexpr uint64_t chunk = 256 * 1024;
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (!state) fail(ENOMEM, "no memory for a hash");
  XXH3_128bits_reset(state.get());
  read_in_pieces(content, 0, content.size(), chunk, [&state](uint64_t, std::span<const std::byte> piece) {
    XXH3_128bits_update(state.get(), piece.data(), piece.size());
  });
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace onnxfs
