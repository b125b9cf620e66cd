#include "fs/tensor_path.h"

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

std::optional<uint32_t> find_node(const Tree& tree, std::string_view path) {
  uint32_t folder = Tree::root;
  while (path.starts_with('/')) path.remove_prefix(1);
  for (size_t slash; (slash = path.find('/')) != path.npos; path.remove_prefix(slash + 1)) {
    const auto next = tree.find_entry(folder, path.substr(0, slash));
    if (!next) return std::nullopt;
    folder = *next;
  }
  if (const auto node = tree.find_tensor(folder, path)) return node;
  for (const std::string_view suffix : tensor_suffixes) {
    if (!path.ends_with(suffix)) continue;
    if (const auto node = tree.find_tensor(folder, path.substr(0, path.size() - suffix.size()))) return node;
  }
  return std::nullopt;
}

}  // namespace

uint32_t tensor_at_path(const Tree& tree, std::string_view path) {
  const auto node = find_node(tree, path);
  if (!node) fail(ENOENT, "the model has no tensor file \"{}\"; onnxfs status lists those that are edited", path);
  return tree.node(*node).subject;
}

}  // namespace onnxfs
