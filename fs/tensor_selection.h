#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fs/tree.h"

namespace onnxfs {

// The tensors that a user names on a command line by a pattern, in file order. That is
//  * the path of a tensor or of a folder in the mount, with or without a suffix that a tensor's files have:
//    "initializers/conv1.weight", "attributes", "initializers/encoder/"; it means what is there and nothing else
//  * where nothing is, a glob (fnmatch, in which `*` matches "/" too) for paths, for paths without the first folder
//    ("conv1.*", "encoder" for all beneath it), or for names as the model has them
// Throws Error(ENOENT) for a pattern that names none, with `what` (a model's path) and the nearest paths in the
// sentence.
std::vector<uint32_t> tensors_named(const Catalog& catalog, const Tree& tree, const std::string& pattern,
                                    const std::string& what);

// Those of some patterns, each once; without patterns all.
std::vector<uint32_t> select_tensors(const Catalog& catalog, const Tree& tree, const std::vector<std::string>& patterns,
                                     const std::string& what);

// "; did you mean initializers/conv1.weight?": of a pattern that names no tensor, paths of some that are nearly named
// so, or whose paths it is a part of; "" when there are none.
std::string meant_tensors(const Tree& tree, size_t tensor_count, const std::string& pattern);

}  // namespace onnxfs
