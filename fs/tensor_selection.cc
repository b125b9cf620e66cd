#include "fs/tensor_selection.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "fs/nearest.h"

namespace onnxfs {

namespace {

std::string_view without_slashes(std::string_view text) {
  while (text.starts_with('/')) text.remove_prefix(1);
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

std::string_view without_suffix(std::string_view text) {
  for (const std::string_view suffix : tensor_suffixes) {
    if (text.ends_with(suffix)) return text.substr(0, text.size() - suffix.size());
  }
  return text;
}

// A path without the section of the model that is its first folder.
std::string without_section(std::string_view path) { return std::string(path.substr(path.find('/') + 1)); }

class Pattern {
 public:
  explicit Pattern(std::string_view text) : text_(without_slashes(text)), stem_(without_suffix(text_)) {
    if (text_.empty()) return;  // the root, which is no tensor's
    globs_ = {text_, fmt::format("{}/*", text_)};
    if (stem_ != text_) globs_.push_back(stem_);
    // A name may begin with what a path does not.
    if (text != text_) globs_.emplace_back(text);
  }

  bool is_path_of(const std::string& path) const {
    return path == text_ || path == stem_ || (path.starts_with(text_) && path.c_str()[text_.size()] == '/');
  }

  bool matches(const std::string& path, std::string_view name) const {
    if (matches_text(path)) return true;
    const std::string bare = without_section(path);
    return matches_text(bare) || (!name.empty() && name != bare && matches_text(std::string(name)));
  }

 private:
  bool matches_text(const std::string& text) const {
    return std::ranges::any_of(
        globs_, [&](const std::string& glob) { return glob == text || ::fnmatch(glob.c_str(), text.c_str(), 0) == 0; });
  }

  std::string text_;
  std::string stem_;
  std::vector<std::string> globs_;
};

}  // namespace

std::vector<uint32_t> tensors_named(const Catalog& catalog, const Tree& tree, const std::string& text,
                                    const std::string& what) {
  const Pattern pattern(text);
  std::vector<uint32_t> exact, matching;
  for (uint32_t tensor = 0; tensor < catalog.tensors().size(); ++tensor) {
    const std::string path = tree.path_of_tensor(tensor);
    if (pattern.is_path_of(path)) exact.push_back(tensor);
    else if (exact.empty() && pattern.matches(path, catalog.tensors()[tensor].name)) matching.push_back(tensor);
  }
  if (!exact.empty()) return exact;
  if (matching.empty()) {
    const std::string meant = meant_tensors(tree, catalog.tensors().size(), text);
    fail(ENOENT, "{} has no tensor \"{}\"{}", what, printable(text),
         meant.empty() ? std::string("; `onnxfs ls` lists them") : meant);
  }
  return matching;
}

std::vector<uint32_t> select_tensors(const Catalog& catalog, const Tree& tree, const std::vector<std::string>& patterns,
                                     const std::string& what) {
  std::vector<bool> is_selected(catalog.tensors().size(), patterns.empty());
  for (const std::string& pattern : patterns) {
    for (const uint32_t tensor : tensors_named(catalog, tree, pattern, what)) is_selected[tensor] = true;
  }
  std::vector<uint32_t> selected;
  for (uint32_t tensor = 0; tensor < is_selected.size(); ++tensor) {
    if (is_selected[tensor]) selected.push_back(tensor);
  }
  return selected;
}

std::string meant_tensors(const Tree& tree, size_t tensor_count, const std::string& pattern) {
  constexpr size_t most = 3, longest = 200;
  const std::string wanted(without_suffix(without_slashes(pattern)));
  if (wanted.empty() || wanted.size() > longest) return "";
  std::vector<std::string> paths, bare;
  for (uint32_t tensor = 0; tensor < tensor_count; ++tensor) {
    std::string path = tree.path_of_tensor(tensor, longest + 1);
    if (path.size() > longest) continue;
    bare.push_back(without_section(path));
    paths.push_back(std::move(path));
  }
  const auto near = [&](const std::vector<std::string>& texts) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return nearest(wanted, views, most);
  };
  std::vector<std::string_view> found = near(paths);
  if (found.empty()) {
    // Views into `bare` become ones into `paths`, whose ends they are.
    for (const std::string_view name : near(bare)) {
      const auto path = std::ranges::find_if(
          paths, [name](std::string_view it) { return it.ends_with(name) && without_section(it) == name; });
      found.push_back(*path);
    }
  }
  if (found.empty()) {
    for (const std::string& path : paths) {
      if (found.size() < most && path.find(wanted) != std::string::npos) found.push_back(path);
    }
  }
  return did_you_mean(found);
}

}  // namespace onnxfs
