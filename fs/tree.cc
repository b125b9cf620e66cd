#include "fs/tree.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <unordered_map>

#include "core/bytes/error.h"
#include "fs/names.h"

namespace onnxfs {

// Fills a tree, node by node, in file order.
class TreeBuilder {
 public:
  TreeBuilder(Tree& tree, const Catalog& catalog)
      : tree_(tree), catalog_(catalog), folder_of_section_(catalog.sections().size()) {
    folder_of_section_[0] = Tree::root;
  }

  uint32_t add_document(uint32_t folder, std::string_view name, Document document) {
    return add(folder, name, Node::Kind::document, static_cast<uint32_t>(document));
  }

  uint32_t add_plain_folder(uint32_t folder, std::string_view name) { return add(folder, name, Node::Kind::folder, 0); }

  void add_tensor(uint32_t index) {
    const Tensor& tensor = catalog_.tensors()[index];
    uint32_t folder = folder_of(tensor.section);
    const std::vector<std::string> components = path_components(tensor.leaf);
    for (size_t i = 0; i + 1 < components.size(); ++i) folder = enter(folder, components[i]);
    const std::string stem = free_name(folder, components.back(), true);
    tree_.node_of_tensor_[index] = add(folder, stem, Node::Kind::tensor, index);
  }

  // Of a section, and of those around it: made when something is first put there, so that none is empty.
  uint32_t folder_of(uint32_t section) {
    std::vector<uint32_t> missing;
    for (; !folder_of_section_[section]; section = catalog_.sections()[section].parent) missing.push_back(section);
    uint32_t folder = *folder_of_section_[section];
    for (auto number = missing.rbegin(); number != missing.rend(); ++number) {
      folder = make_folder(folder, catalog_.sections()[*number]);
      folder_of_section_[*number] = folder;
    }
    return folder;
  }

  void finish() {
    for (uint32_t i = 1; i < tree_.nodes_.size(); ++i) ++tree_.nodes_[tree_.nodes_[i].parent].child_count;
    uint32_t first = 0;
    for (Node& node : tree_.nodes_) {
      node.first_child = first;
      first += node.child_count;
    }
    tree_.children_.resize(first);
    std::vector<uint32_t> next(tree_.nodes_.size());
    for (uint32_t i = 1; i < tree_.nodes_.size(); ++i) {
      const uint32_t parent = tree_.nodes_[i].parent;
      tree_.children_[tree_.nodes_[parent].first_child + next[parent]++] = i;
    }
  }

 private:
  uint32_t make_folder(uint32_t parent, const Section& section) {
    if (!section.is_distinct()) return enter(parent, std::string(section.name));
    const std::vector<std::string> components = path_components(section.name);
    for (size_t i = 0; i + 1 < components.size(); ++i) parent = enter(parent, components[i]);
    return claim(parent, components.back());
  }

  // A folder for one section alone. One that only names led through so far may be it.
  uint32_t claim(uint32_t parent, const std::string& name) {
    const auto known = tree_.find_entry(parent, name);
    const bool usable = known && tree_.node(*known).kind == Node::Kind::folder && !is_renamed(*known);
    const uint32_t folder = usable && !claimed_.contains(*known) ? *known : add_folder(parent, name);
    claimed_.insert(folder);
    return folder;
  }

  // The folder that tensors mean by `name`: it is made when there is none, and then by another name if a file is
  // where it would be.
  uint32_t enter(uint32_t parent, const std::string& name) {
    const auto renamed = renamed_.find(clash_key(parent, false, name));
    if (renamed != renamed_.end()) return renamed->second;
    const auto known = tree_.find_entry(parent, name);
    if (known && !is_renamed(*known)) return *known;
    const uint32_t folder = add_folder(parent, name);
    if (is_renamed(folder)) renamed_.emplace(clash_key(parent, false, name), folder);
    return folder;
  }

  uint32_t add_folder(uint32_t parent, const std::string& name) {
    const std::string given = free_name(parent, name, false);
    const uint32_t folder = add(parent, given, Node::Kind::folder, 0);
    if (given != name) renamed_folders_.insert(folder);
    if (has_tensor_suffix(given)) any_folder_like_a_file_ = true;
    return folder;
  }

  // `name`, or the first of `name`@2, `name`@3 … that clashes with nothing.
  std::string free_name(uint32_t parent, const std::string& name, bool tensor) {
    if (is_free(parent, name, tensor)) return name;
    uint64_t& number = next_number_.try_emplace(clash_key(parent, tensor, name), 2).first->second;
    for (;;) {
      std::string candidate = fmt::format("{}@{}", name, number++);
      if (is_free(parent, candidate, tensor)) return candidate;
    }
  }

  bool is_free(uint32_t parent, const std::string& name, bool tensor) const {
    if (tensor) {
      if (tree_.find_tensor(parent, name)) return false;
      if (!any_folder_like_a_file_) return true;
      return std::ranges::none_of(tensor_suffixes, [&](std::string_view suffix) {
        return tree_.find_entry(parent, fmt::format("{}{}", name, suffix)).has_value();
      });
    }
    if (tree_.find_entry(parent, name)) return false;
    return std::ranges::none_of(tensor_suffixes, [&](std::string_view suffix) {
      return name.ends_with(suffix) &&
             tree_.find_tensor(parent, std::string_view(name).substr(0, name.size() - suffix.size())).has_value();
    });
  }

  static bool has_tensor_suffix(const std::string& name) {
    return std::ranges::any_of(tensor_suffixes, [&name](std::string_view suffix) { return name.ends_with(suffix); });
  }

  bool is_renamed(uint32_t folder) const { return renamed_folders_.contains(folder); }

  static std::string clash_key(uint32_t parent, bool tensor, const std::string& name) {
    return fmt::format("{}{}{}", parent, tensor ? 't' : 'f', name);
  }

  uint32_t add(uint32_t parent, std::string_view name, Node::Kind kind, uint32_t subject) {
    if (tree_.nodes_.size() == std::numeric_limits<uint32_t>::max()) fail(EOVERFLOW, "more names than can be numbered");
    const auto number = static_cast<uint32_t>(tree_.nodes_.size());
    auto* kept = static_cast<char*>(tree_.arena_.allocate(name.size(), alignof(char)));
    std::ranges::copy(name, kept);
    tree_.nodes_.push_back({{kept, name.size()}, parent, 0, 0, subject, kind});
    tree_.index_.insert(number);
    return number;
  }

  Tree& tree_;
  const Catalog& catalog_;
  std::vector<std::optional<uint32_t>> folder_of_section_;
  bool any_folder_like_a_file_ = false;  // else no tensor can clash with a folder
  std::unordered_map<std::string, uint64_t> next_number_;
  std::unordered_map<std::string, uint32_t> renamed_;  // by the name that was wanted
  std::unordered_set<uint32_t> renamed_folders_;
  std::unordered_set<uint32_t> claimed_;  // by a section
};

Tree::Tree(const Catalog& catalog, bool has_status)
    : node_of_tensor_(catalog.tensors().size()), index_(0, Hash{&nodes_}, Equal{&nodes_}, &arena_) {
  const auto& tensors = catalog.tensors();
  nodes_.reserve(tensors.size() + tensors.size() / 2 + 16);
  index_.reserve(nodes_.capacity());
  nodes_.emplace_back();
  TreeBuilder builder(*this, catalog);
  builder.add_document(root, "model.json", Document::model_json);
  builder.add_document(root, "index.tsv", Document::index_tsv);
  if (catalog.root() == Root::model) builder.add_document(root, "graph.txt", Document::graph_txt);
  builder.add_document(root, "problems.txt", Document::problems_txt);
  builder.add_document(root, "model.safetensors", Document::safetensors);
  builder.add_document(root, "XXH128SUMS", Document::sums);
  if (has_status) {
    const uint32_t folder = builder.add_plain_folder(root, ".onnxfs");
    builder.add_document(folder, "status.json", Document::status_json);
    builder.add_document(folder, "edits.tsv", Document::edits_tsv);
    builder.add_document(folder, "log.txt", Document::log_txt);
  }
  for (uint32_t i = 0; i < tensors.size(); ++i) builder.add_tensor(i);
  // An empty sequence is something that a person should see.
  const auto& sections = catalog.sections();
  for (uint32_t i = 0; i < sections.size(); ++i) {
    if (sections[i].kind == Section::Kind::collection) builder.folder_of(i);
  }
  builder.finish();
}

std::span<const uint32_t> Tree::children(uint32_t folder) const noexcept {
  return {children_.data() + nodes_[folder].first_child, nodes_[folder].child_count};
}

std::optional<uint32_t> Tree::find_entry(uint32_t folder, std::string_view name) const {
  return find({folder, false, name});
}

std::optional<uint32_t> Tree::find_tensor(uint32_t folder, std::string_view stem) const {
  return find({folder, true, stem});
}

std::optional<uint32_t> Tree::find(const Key& key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? std::nullopt : std::optional(*found);
}

std::function<std::string(uint32_t)> Tree::paths_for_listing() const {
  constexpr size_t enough = size_t{32} << 20, far_too_much = size_t{128} << 20;
  constexpr size_t longest_opened = 4096;  // PATH_MAX
  constexpr size_t longest_of_a_flood = 256;
  return [this, told = size_t{0}](uint32_t tensor) mutable {
    const size_t longest = told < enough ? SIZE_MAX : told < far_too_much ? longest_opened : longest_of_a_flood;
    std::string result = path_of_tensor(tensor, longest);
    told += result.size();
    return result;
  };
}

std::string Tree::path(uint32_t number, size_t longest) const {
  constexpr size_t shown_of_longer = 200;
  std::vector<std::string_view> names;
  size_t length = 0;
  for (; number != root && length <= longest; number = nodes_[number].parent) {
    names.push_back(nodes_[number].name);
    length += names.back().size() + 1;
  }
  if (length > longest) {
    size_t kept = 0;
    for (length = 0; kept < names.size() && length <= shown_of_longer; ++kept) length += names[kept].size() + 1;
    names.resize(kept);
    names.emplace_back("...");
  }
  std::ranges::reverse(names);
  return fmt::format("{}", fmt::join(names, "/"));
}

Tree::Key Tree::key_of(const Node& node) noexcept { return {node.parent, node.kind == Node::Kind::tensor, node.name}; }

size_t Tree::Hash::operator()(const Key& key) const noexcept {
  return XXH3_64bits_withSeed(key.name.data(), key.name.size(), uint64_t{key.parent} * 2 + key.tensor);
}

bool Tree::Equal::operator()(const Key& key, uint32_t node) const noexcept {
  const Key other = key_of((*nodes)[node]);
  return key.parent == other.parent && key.tensor == other.tensor && key.name == other.name;
}

}  // namespace onnxfs
