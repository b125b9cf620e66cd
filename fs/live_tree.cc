#include "fs/live_tree.h"

namespace onnxfs {

namespace {

using Key = std::pair<uint32_t, std::string>;

}  // namespace

LiveTree::LiveTree(const Model& model) {
  folders_.emplace_back();
  add(model.name(), Tensor::no_index);
  const auto& data_files = model.catalog().data_files();
  for (uint32_t i = 0; i < data_files.size(); ++i) {
    if (data_files[i].source) add(data_files[i].location, i);
  }
}

// Locations are normalised, so that each of their components is a name. Where the model names itself, or what is a
// folder in another location, the first stays.
void LiveTree::add(std::string_view location, uint32_t data_file) {
  uint32_t folder = root;
  for (size_t slash; (slash = location.find('/')) != std::string_view::npos; location.remove_prefix(slash + 1)) {
    Key key(folder, location.substr(0, slash));
    if (file_numbers_.contains(key)) return;
    const auto [place, is_new] = folder_numbers_.try_emplace(key, static_cast<uint32_t>(folders_.size()));
    if (is_new) folders_.push_back({std::move(key.second), folder});
    folder = place->second;
  }
  Key key(folder, location);
  if (folder_numbers_.contains(key)) return;
  if (file_numbers_.try_emplace(key, static_cast<uint32_t>(files_.size())).second) {
    files_.push_back({std::move(key.second), folder, data_file});
  }
}

std::optional<uint32_t> LiveTree::find_folder(uint32_t folder, std::string_view name) const {
  const auto found = folder_numbers_.find(Key(folder, name));
  return found == folder_numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint32_t> LiveTree::find_file(uint32_t folder, std::string_view name) const {
  const auto found = file_numbers_.find(Key(folder, name));
  return found == file_numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<LiveTree::Listed> LiveTree::list(uint32_t folder) const {
  std::vector<Listed> result;
  for (const auto* numbers : {&file_numbers_, &folder_numbers_}) {
    for (auto entry = numbers->lower_bound(Key(folder, "")); entry != numbers->end() && entry->first.first == folder;
         ++entry) {
      result.push_back({entry->first.second, entry->second, numbers == &folder_numbers_});
    }
  }
  return result;
}

}  // namespace onnxfs
