#pragma once

#include <string>
#include <vector>

#include "fs/tree.h"

namespace onnxfs::testing {

// Where in the tree each tensor of a catalog stands, by its number: its path without a suffix.
inline std::vector<std::string> tensor_paths(const Tree& tree) {
  std::vector<std::string> paths;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    if (node.kind != Node::Kind::tensor) continue;
    if (node.subject >= paths.size()) paths.resize(node.subject + 1);
    paths[node.subject] = tree.path(i);
  }
  return paths;
}

}  // namespace onnxfs::testing
