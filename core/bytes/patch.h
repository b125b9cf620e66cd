#pragma once

#include <vector>

#include "core/bytes/range.h"
#include "core/bytes/rope.h"

namespace onnxfs {

// What takes the place of a range of a file. The two may differ in size, and either may be empty.
struct Patch {
  ByteRange range;
  Rope content;

  bool keeps_size() const noexcept { return range.size() == content.size(); }
};

// Puts patches in the order of the file. Those that only insert, at one place, stay in the order they are in.
// Throws Error(EINVAL), with the offset, where two of them overlap.
void sort_patches(std::vector<Patch>& patches);

// All of a source, with patches that are in order. Reads nothing. Throws Error(EOVERFLOW) as a Rope does.
Rope patched(const SourcePtr& source, const std::vector<Patch>& patches);

// The ranges of `edited` that are not the same bytes of the same source as in `original`, which has its size: so what
// was written over, whether its bytes are others or not. Reads nothing.
std::vector<ByteRange> changed_ranges(const Rope& original, const Rope& edited);

}  // namespace onnxfs
