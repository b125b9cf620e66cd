#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/edit.h"
#include "core/views/listing.h"

namespace onnxfs {

// A tensor as a safetensors file holds it. A plain value of few bytes, whose views point into the catalog, the edits
// and the list that it is in: a model may have very many.
struct SafetensorsEntry {
  uint32_t tensor;
  unsigned alignment;      // the width of an element in bits
  bool is_opaque;          // what the format cannot hold goes in as U8
  std::string_view dtype;  // "F32"
  std::string_view key;
  std::span<const int64_t> shape;  // of what is opaque the file says its size instead
  uint64_t size;                   // in bytes
};

struct SafetensorsEntries {
  std::vector<SafetensorsEntry> list;
  std::deque<std::string> paths;  // those that are keys
};

// The format's name of a type whose elements it can hold in so many: they have to fill whole bytes. "" when it has
// none. Left out of the format's own list are the FNUZ types, which its released readers do not know.
std::string_view safetensors_dtype(const DataType& type, uint64_t elements);

// All tensors that are not known to be broken, in the order in which the file holds them: by the width of their
// elements, widest first, so that each is aligned to it; then by key.
//
// The key of an initializer of the main graph is its name, unless that is empty, not UTF-8, the format's own
// "__metadata__", the name of an earlier one, or the path of some tensor. All others have their path.
SafetensorsEntries safetensors_entries(const Model& model, const Edits& edits, const PathOf& path_of);

}  // namespace onnxfs
