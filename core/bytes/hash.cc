#include "core/bytes/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

// The library's plain functions use the vectors that every x86-64 has. These ask for the processor first, and are
// several times as fast on most.
#ifdef ONNXFS_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

#include <cerrno>
#include <memory>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

constexpr uint64_t chunk = 256 * 1024;

using State = std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)>;

State make_state() {
  State state(XXH3_createState(), &XXH3_freeState);
  if (!state) fail(ENOMEM, "no memory for a hash");
  return state;
}

}  // namespace

uint64_t xxh3(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t xxh3(const Rope& rope, uint64_t offset, uint64_t length) {
  if (length <= chunk) {  // as most edits: no state is made for them
    const auto bytes = std::make_unique_for_overwrite<std::byte[]>(length);
    rope.read(offset, {bytes.get(), length});
    return xxh3(std::span(bytes.get(), length));
  }
  const State state = make_state();
  XXH3_64bits_reset(state.get());
  read_in_pieces(rope, offset, length, chunk, [&state](uint64_t, std::span<const std::byte> piece) {
    XXH3_64bits_update(state.get(), piece.data(), piece.size());
  });
  return XXH3_64bits_digest(state.get());
}

std::string xxh128(const Rope& content) {
  const State state = make_state();
  XXH3_128bits_reset(state.get());
  read_in_pieces(content, 0, content.size(), chunk, [&state](uint64_t, std::span<const std::byte> piece) {
    XXH3_128bits_update(state.get(), piece.data(), piece.size());
  });
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace onnxfs
