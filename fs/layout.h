#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/live_tree.h"
#include "fs/tree.h"

namespace onnxfs {

// Which file or folder of a node a place in the mount is. The numbers are part of inode numbers, so they stay.
enum class Facet : uint8_t {
  folder = 1,
  payload = 2,  // X.bin
  json = 3,
  document = 4,
  scratch = 5,  // a file that a program made; in place of a node it has an id
  npy_folder = 6,
  npy = 7,
  text_folder = 8,
  text = 9,
  pb_folder = 10,
  pb = 11,
  live_folder = 12,  // in place of a node, live folders and files have the numbers of LiveTree
  live_file = 13,
};

constexpr bool is_folder(Facet facet) noexcept {
  return facet == Facet::folder || facet == Facet::npy_folder || facet == Facet::text_folder ||
         facet == Facet::pb_folder || facet == Facet::live_folder;
}

// A file or folder of the mount of a model.
struct Place {
  uint32_t node = Tree::root;
  Facet facet = Facet::folder;

  bool operator==(const Place&) const = default;
};

// Where everything is that is always there: the tree of tensors and documents, the same folders once more for each view
// of tensors (npy/, text/, pb/), and live/. Scratch files are not in it.
//
// An inode number is the place: the node above, the facet in the lowest byte. So numbers are computed and not kept, and
// the same on each mount. They fit in 40 bits. Immutable; any number of threads may use one.
class Layout {
 public:
  // `has_status` as of Tree.
  Layout(const Model& model, bool has_status);

  const Tree& tree() const noexcept { return tree_; }
  const LiveTree& live() const noexcept { return live_; }

  static uint64_t inode(Place place) noexcept { return inode(place.node, place.facet); }
  static uint64_t inode(uint64_t node, Facet facet) noexcept { return node << 8 | static_cast<uint8_t>(facet); }
  static Facet facet_of(uint64_t inode) noexcept { return static_cast<Facet>(inode & 0xff); }

  // Nothing for a number that no place has, and for scratch files.
  std::optional<Place> place(uint64_t inode) const;

  std::optional<Place> find(Place folder, std::string_view name) const;
  Place parent(Place folder) const;
  uint32_t subfolders(Place folder) const;

  // All in a folder from the slot `first` on, until visit(name, place, next slot) returns false. Slots are less than
  // `slot_end`, and those of a place stay.
  using Visit = std::function<bool(const std::string& name, Place place, uint64_t next)>;
  bool list(Place folder, uint64_t first, const Visit& visit) const;
  static constexpr uint64_t slot_end = uint64_t{1} << 40;

  // The files that show a tensor; .npy is not there of strings.
  std::vector<Place> files_of(uint32_t tensor) const;

 private:
  struct TensorFile {
    std::string_view suffix;
    Facet facet;
    Facet folder;  // of the folders that it is in
  };
  static const TensorFile tensor_files[];

  struct ViewFolder {
    std::string_view name;
    Facet facet;
  };
  static const ViewFolder view_folders[];

  // What stands below a node, itself included.
  static constexpr uint8_t a_tensor = 1, a_tensor_with_npy = 2;
  bool is_there(Place place) const;  // of a node's facet: whether it has it
  bool list_tree(Place folder, uint64_t first, const Visit& visit) const;
  bool list_views(uint64_t first, uint64_t base, const Visit& visit) const;

  Tree tree_;
  LiveTree live_;
  std::vector<uint8_t> holds_;  // by node
};

}  // namespace onnxfs
