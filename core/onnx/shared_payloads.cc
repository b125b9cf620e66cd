#include "core/onnx/shared_payloads.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

namespace onnxfs {

SharedPayloads::SharedPayloads(const Catalog& catalog) {
  const auto& tensors = catalog.tensors();
  struct Place {
    const FileSource* file;
    ByteRange range;
    uint32_t tensor;
  };
  std::vector<Place> places;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.data_file == Tensor::no_index || !tensor.in_one_piece || tensor.data.empty() || tensor.broken())
      continue;
    places.push_back({catalog.data_files()[tensor.data_file].source.get(), tensor.data, i});
  }
  // Two locations may name one file.
  const auto order = [](const Place& place) {
    const FileIdentity& id = place.file->identity();
    return std::tuple(id.device, id.inode, place.range.begin, place.range.end, place.tensor);
  };
  std::ranges::sort(places, std::less(), order);
  const auto same_file = [](const Place& a, const Place& b) { return a.file->identity() == b.file->identity(); };

  const Place* owner = nullptr;
  const Place* longest = nullptr;  // of the owners before, the one that ends last
  for (const Place& place : places) {
    if (owner != nullptr && same_file(*owner, place) && owner->range == place.range) {
      owners_.emplace(place.tensor, owner->tensor);
      others_[owner->tensor].push_back(place.tensor);
      continue;
    }
    owner = &place;
    if (longest != nullptr && same_file(*longest, place) && place.range.begin < longest->range.end) {
      overlaps_.emplace(place.tensor, longest->tensor);
      overlaps_.emplace(longest->tensor, place.tensor);
    }
    if (longest == nullptr || !same_file(*longest, place) || place.range.end > longest->range.end) longest = &place;
  }
}

uint32_t SharedPayloads::owner(uint32_t tensor) const {
  const auto shared = owners_.find(tensor);
  return shared == owners_.end() ? tensor : shared->second;
}

std::vector<uint32_t> SharedPayloads::sharers(uint32_t owner) const {
  std::vector<uint32_t> all = {owner};
  if (const auto others = others_.find(owner); others != others_.end()) {
    all.insert(all.end(), others->second.begin(), others->second.end());
  }
  return all;
}

std::optional<uint32_t> SharedPayloads::overlaps(uint32_t tensor) const {
  const auto other = overlaps_.find(owner(tensor));
  if (other == overlaps_.end()) return std::nullopt;
  return other->second;
}

}  // namespace onnxfs
