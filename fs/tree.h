#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/onnx/catalog.h"

namespace onnxfs {

// The files that are made for a model as a whole.
enum class Document : uint8_t {
  model_json,
  index_tsv,
  graph_txt,
  safetensors,
  sums,
  problems_txt,
  status_json,
  edits_tsv,
  log_txt
};

// The suffixes that a tensor's name gets in one view or another. A tensor has one stem in all of them, so a stem is
// taken where any of these is.
inline constexpr std::string_view tensor_suffixes[] = {".bin", ".json", ".npy", ".txt", ".pb"};

// One place in the tree of a model's mount. A tensor is one node, whose name has no suffix; the files that show it are
// for those to know who ask.
struct Node {
  enum class Kind : uint8_t { folder, tensor, document };

  std::string_view name;
  uint32_t parent = 0;
  uint32_t first_child = 0;  // in the list of all children
  uint32_t child_count = 0;
  uint32_t subject = 0;  // the tensor's index, or the Document
  Kind kind = Kind::folder;
};

// Where a model's tensors and documents stand: names mapped to paths, and clashes told apart.
//
// Each section of the catalog in which something stands is a folder.
//
// Where two entries would have one path, the later one in file order gets "@2", "@3" … before its suffix: a second
// tensor of one stem, a tensor whose file would be where a folder is, a folder that would be where such a file is
// (which all later tensors that want that folder then share), a second node or graph of one name. A function of the
// catalog alone, so that the same file gives the same numbers and paths on each mount. Node 0 is the root; parents come
// before their children.
//
// Immutable; any number of threads may use it.
class Tree {
 public:
  // `has_status`: whether .onnxfs/ is in it, with status.json, edits.tsv and log.txt.
  explicit Tree(const Catalog& catalog, bool has_status = true);
  Tree(const Tree&) = delete;  // the index refers to the nodes
  Tree& operator=(const Tree&) = delete;

  static constexpr uint32_t root = 0;

  size_t size() const noexcept { return nodes_.size(); }
  const Node& node(uint32_t number) const noexcept { return nodes_[number]; }
  std::span<const uint32_t> children(uint32_t folder) const noexcept;  // in file order

  // A folder or document by its name, or a tensor by its stem.
  std::optional<uint32_t> find_entry(uint32_t folder, std::string_view name) const;
  std::optional<uint32_t> find_tensor(uint32_t folder, std::string_view stem) const;

  // "initializers/encoder/W": of a tensor without a suffix. Of one that is longer than `longest` bytes, the end behind
  // ".../".
  std::string path(uint32_t node, size_t longest = SIZE_MAX) const;
  uint32_t node_of_tensor(uint32_t tensor) const noexcept { return node_of_tensor_[tensor]; }
  std::string path_of_tensor(uint32_t tensor, size_t longest = SIZE_MAX) const {
    return path(node_of_tensor(tensor), longest);
  }

  // Gives the paths of tensors for one listing. Many tensors may stand under one name of a megabyte: after enough
  // bytes, those longer than any path that can be opened are given by their ends; after far too many, all long ones.
  std::function<std::string(uint32_t tensor)> paths_for_listing() const;

 private:
  friend class TreeBuilder;

  // A folder or document and a tensor of one name are no clash: the tensor's files have suffixes.
  struct Key {
    uint32_t parent;
    bool tensor;
    std::string_view name;
  };
  struct Hash {
    using is_transparent = void;
    const std::vector<Node>* nodes;
    size_t operator()(const Key& key) const noexcept;
    size_t operator()(uint32_t node) const noexcept { return (*this)(key_of((*nodes)[node])); }
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<Node>* nodes;
    bool operator()(uint32_t a, uint32_t b) const noexcept { return a == b; }
    bool operator()(const Key& key, uint32_t node) const noexcept;
    bool operator()(uint32_t node, const Key& key) const noexcept { return (*this)(key, node); }
  };
  static Key key_of(const Node& node) noexcept;
  std::optional<uint32_t> find(const Key& key) const;

  std::pmr::monotonic_buffer_resource arena_;  // of names and of the index
  std::vector<Node> nodes_;
  std::vector<uint32_t> children_;
  std::vector<uint32_t> node_of_tensor_;
  std::pmr::unordered_set<uint32_t, Hash, Equal> index_;
};

}  // namespace onnxfs
