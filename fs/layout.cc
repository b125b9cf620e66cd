#include "fs/layout.h"

#include <algorithm>
#include <iterator>

#include "core/views/npy.h"

namespace onnxfs {

const Layout::TensorFile Layout::tensor_files[] = {{".bin", Facet::payload, Facet::folder},
                                                   {".json", Facet::json, Facet::folder},
                                                   {".npy", Facet::npy, Facet::npy_folder},
                                                   {".txt", Facet::text, Facet::text_folder},
                                                   {".pb", Facet::pb, Facet::pb_folder}};

const Layout::ViewFolder Layout::view_folders[] = {
    {"npy", Facet::npy_folder}, {"text", Facet::text_folder}, {"pb", Facet::pb_folder}, {"live", Facet::live_folder}};

Layout::Layout(const Model& model, bool has_status)
    : tree_(model.catalog(), has_status), live_(model), holds_(tree_.size(), 0) {
  // Parents come before their children.
  for (uint32_t number = static_cast<uint32_t>(tree_.size()); number-- > 0;) {
    const Node& node = tree_.node(number);
    if (node.kind == Node::Kind::tensor) {
      holds_[number] = has_npy(model.catalog().tensors()[node.subject]) ? a_tensor | a_tensor_with_npy : a_tensor;
    }
    holds_[node.parent] |= holds_[number];
  }
}

bool Layout::is_there(Place place) const {
  const Node::Kind kind = tree_.node(place.node).kind;
  switch (place.facet) {
    case Facet::folder: return kind == Node::Kind::folder;
    case Facet::document: return kind == Node::Kind::document;
    case Facet::npy_folder: return kind == Node::Kind::folder && (holds_[place.node] & a_tensor_with_npy) != 0;
    case Facet::text_folder:
    case Facet::pb_folder: return kind == Node::Kind::folder && (holds_[place.node] & a_tensor) != 0;
    case Facet::npy: return kind == Node::Kind::tensor && (holds_[place.node] & a_tensor_with_npy) != 0;
    case Facet::payload:
    case Facet::json:
    case Facet::text:
    case Facet::pb: return kind == Node::Kind::tensor;
    case Facet::live_folder: return place.node < live_.folders().size();
    case Facet::live_file: return place.node < live_.files().size();
    case Facet::scratch: break;
  }
  return false;
}

std::optional<Place> Layout::place(uint64_t inode) const {
  const uint64_t node = inode >> 8;
  const Facet facet = facet_of(inode);
  const bool is_live = facet == Facet::live_folder || facet == Facet::live_file;
  if (node >= (is_live ? live_.files().size() + live_.folders().size() : tree_.size())) return std::nullopt;
  const Place place{static_cast<uint32_t>(node), facet};
  if (!is_there(place)) return std::nullopt;
  return place;
}

std::optional<Place> Layout::find(Place folder, std::string_view name) const {
  if (folder.facet == Facet::live_folder) {
    if (const auto file = live_.find_file(folder.node, name)) return Place{*file, Facet::live_file};
    if (const auto inner = live_.find_folder(folder.node, name)) return Place{*inner, Facet::live_folder};
    return std::nullopt;
  }
  if (const auto child = tree_.find_entry(folder.node, name)) {
    const bool is_document = tree_.node(*child).kind == Node::Kind::document;
    if (is_document && folder.facet != Facet::folder) return std::nullopt;
    const Place found{*child, is_document ? Facet::document : folder.facet};
    return is_there(found) ? std::optional(found) : std::nullopt;
  }
  for (const TensorFile& file : tensor_files) {
    if (file.folder != folder.facet || !name.ends_with(file.suffix)) continue;
    const auto child = tree_.find_tensor(folder.node, name.substr(0, name.size() - file.suffix.size()));
    if (child && is_there({*child, file.facet})) return Place{*child, file.facet};
  }
  if (folder == Place()) {
    for (const ViewFolder& view : view_folders) {
      if (view.name == name && is_there({Tree::root, view.facet})) return Place{Tree::root, view.facet};
    }
  }
  return std::nullopt;
}

Place Layout::parent(Place folder) const {
  if (folder.facet == Facet::live_folder) {
    return folder.node == LiveTree::root ? Place() : Place{live_.folders()[folder.node].parent, Facet::live_folder};
  }
  return folder.node == Tree::root ? Place() : Place{tree_.node(folder.node).parent, folder.facet};
}

uint32_t Layout::subfolders(Place folder) const {
  uint32_t count = 0;
  if (folder.facet == Facet::live_folder) {
    for (const LiveTree::Listed& entry : live_.list(folder.node)) count += entry.is_folder;
    return count;
  }
  for (const uint32_t child : tree_.children(folder.node)) count += is_there({child, folder.facet});
  if (folder == Place()) {
    for (const ViewFolder& view : view_folders) count += is_there({Tree::root, view.facet});
  }
  return count;
}

bool Layout::list(Place folder, uint64_t first, const Visit& visit) const {
  if (folder.facet != Facet::live_folder) return list_tree(folder, first, visit);
  const auto entries = live_.list(folder.node);
  for (uint64_t slot = first; slot < entries.size(); ++slot) {
    const LiveTree::Listed& entry = entries[slot];
    const Place place{entry.number, entry.is_folder ? Facet::live_folder : Facet::live_file};
    if (!visit(entry.name, place, slot + 1)) return false;
  }
  return true;
}

// Each child has a slot for every file that a tensor may have in a folder; folders and documents use the first.
bool Layout::list_tree(Place folder, uint64_t first, const Visit& visit) const {
  const auto is_here = [folder](const TensorFile& file) { return file.folder == folder.facet; };
  const TensorFile* files = std::ranges::find_if(tensor_files, is_here);
  const auto files_each = static_cast<uint64_t>(std::ranges::count_if(tensor_files, is_here));
  const auto children = tree_.children(folder.node);
  const uint64_t end = children.size() * files_each;
  for (uint64_t slot = first; slot < end; ++slot) {
    const uint32_t child = children[slot / files_each];
    const Node& node = tree_.node(child);
    std::string name(node.name);
    Place place{child, folder.facet};
    if (node.kind == Node::Kind::tensor) {
      const TensorFile& file = files[slot % files_each];
      name += file.suffix;
      place.facet = file.facet;
    } else if (slot % files_each != 0) {
      continue;
    } else if (node.kind == Node::Kind::document) {
      if (folder.facet != Facet::folder) continue;
      place.facet = Facet::document;
    }
    if (is_there(place) && !visit(name, place, slot + 1)) return false;
  }
  return folder != Place() || list_views(first, end, visit);
}

bool Layout::list_views(uint64_t first, uint64_t base, const Visit& visit) const {
  for (uint64_t i = first > base ? first - base : 0; i < std::size(view_folders); ++i) {
    const Place place{Tree::root, view_folders[i].facet};
    if (is_there(place) && !visit(std::string(view_folders[i].name), place, base + i + 1)) return false;
  }
  return true;
}

std::vector<Place> Layout::files_of(uint32_t tensor) const {
  std::vector<Place> places;
  for (const TensorFile& file : tensor_files) {
    const Place place{tree_.node_of_tensor(tensor), file.facet};
    if (is_there(place)) places.push_back(place);
  }
  return places;
}

}  // namespace onnxfs
