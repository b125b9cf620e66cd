#include "core/analysis/payload_place.h"

#include <xxhash.h>

namespace onnxfs {

std::optional<PayloadPlace> place_of(const Rope& payload) {
  const auto extents = payload.extents();
  if (extents.size() != 1) return std::nullopt;
  const auto* file = dynamic_cast<const FileSource*>(extents[0].source.get());
  if (file == nullptr) return std::nullopt;
  return PayloadPlace{file->identity(), extents[0].offset, extents[0].length};
}

size_t PlacePair::Hash::operator()(const PlacePair& pair) const noexcept {
  const uint64_t numbers[] = {pair.a.file.inode, pair.a.offset, pair.a.length,
                              pair.b.file.inode, pair.b.offset, pair.b.length};
  return XXH3_64bits(numbers, sizeof numbers);
}

}  // namespace onnxfs
