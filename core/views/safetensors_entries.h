#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/edit.h"
#include "core/views/listing.h"

namespace onnxfs {

// A tensor as a safetensors file holds it.
struct SafetensorsEntry {
  uint32_t tensor;
  std::string key;
  std::string_view dtype;      // "F32"; "U8" of what the format cannot hold
  std::vector<int64_t> shape;  // as the format sees it: of such a tensor, its number of bytes
  uint64_t size;               // in bytes
  unsigned alignment;          // the width of an element in bits
  bool is_opaque;              // goes in as U8
};

// The format's name of a type whose elements it can hold in so many: they have to fill whole bytes. "" when it has
// none. Left out of the format's own list are the FNUZ types, which its released readers do not know.
std::string_view safetensors_dtype(const DataType& type, uint64_t elements);

// All tensors that are not known to be broken, in the order in which the file holds them: by the width of their
// elements, widest first, so that each is aligned to it; then by key.
//
// The key of an initializer of the main graph is its name, unless that is empty, not UTF-8, the format's own
// "__metadata__", the name of an earlier one, or the path of some tensor. All others have their path.
std::vector<SafetensorsEntry> safetensors_entries(const Model& model, const Edits& edits, const PathOf& path_of);

}  // namespace onnxfs
