#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/onnx/catalog.h"

namespace onnxfs {

// Which tensors of a model have the same bytes of the same file for their payload (tied weights): what is written to
// one is written to all, so their payloads are edited as one. Made from external tensors, since no others can share.
// Immutable.
class SharedPayloads {
 public:
  SharedPayloads() = default;
  explicit SharedPayloads(const Catalog& catalog);

  // The first tensor with the payload of this one: itself, of nearly all.
  uint32_t owner(uint32_t tensor) const;

  // All tensors with the payload of an owner, itself first.
  std::vector<uint32_t> sharers(uint32_t owner) const;

  // Another tensor whose payload has some bytes with this one's in common, but not all: neither can be edited without
  // the other changing in ways that nobody asked for.
  std::optional<uint32_t> overlaps(uint32_t tensor) const;

 private:
  std::unordered_map<uint32_t, uint32_t> owners_;               // of those that are not their own
  std::unordered_map<uint32_t, std::vector<uint32_t>> others_;  // by owner
  std::unordered_map<uint32_t, uint32_t> overlaps_;             // of owners
};

}  // namespace onnxfs
