#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fs/tree.h"

namespace onnxfs {

// The tensors that a user names on a command line, in file order, each once; without patterns all. A pattern is
//  * a glob (fnmatch, in which `*` matches "/" too) for their paths in the mount, with or without a suffix that a
//    tensor's files have: "initializers/layer.*.weight", "*.bias.bin"
//  * a folder, for all beneath it: "attributes", "initializers/encoder/"
// Throws Error(ENOENT) for a pattern that names none, with `what` (a model's path) in the sentence.
std::vector<uint32_t> select_tensors(const Catalog& catalog, const Tree& tree, const std::vector<std::string>& patterns,
                                     const std::string& what);

}  // namespace onnxfs
