#pragma once

#include <cstdint>

#include "core/bytes/rope.h"
#include "core/onnx/model.h"

namespace onnxfs::fuzz {

// How many bytes of payloads and views an input may have read, since a few bytes of it can ask for the same megabytes
// again and again; what is past that is not looked at.
class Budget {
 public:
  bool allows(uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  uint64_t left_ = 1 << 20;
};

// Reads all of a rope at once, and then in pieces that begin and end anywhere, which have to be the same bytes.
std::string read_both_ways(const Rope& rope);

// Has everything made of a model that a mount of it shows, and holds each part against the others: documents against
// the catalog, sizes against contents, and each view against the payload that a reader of that view gets from it.
void check_views(const std::shared_ptr<const Model>& model);

}  // namespace onnxfs::fuzz
