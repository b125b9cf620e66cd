#pragma once

#include <compare>
#include <optional>

#include "core/bytes/file_source.h"
#include "core/bytes/rope.h"

namespace onnxfs {

// Where in which file a payload stands that is in one piece: two of one place are the same bytes, whichever model they
// were found through. A plain value.
struct PayloadPlace {
  FileIdentity file;
  uint64_t offset = 0;
  uint64_t length = 0;

  bool operator==(const PayloadPlace&) const = default;
};

// Nothing for a payload that is in several pieces, or in no file.
std::optional<PayloadPlace> place_of(const Rope& payload);

struct PlacePair {
  PayloadPlace a, b;

  bool operator==(const PlacePair&) const = default;

  struct Hash {
    size_t operator()(const PlacePair& pair) const noexcept;
  };
};

}  // namespace onnxfs
