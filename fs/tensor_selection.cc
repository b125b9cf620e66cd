#include "fs/tensor_selection.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"

namespace onnxfs {

namespace {

class Pattern {
 public:
  explicit Pattern(std::string_view text) {
    while (text.starts_with('/')) text.remove_prefix(1);
    while (text.ends_with('/')) text.remove_suffix(1);
    globs_.emplace_back(text);
    for (const std::string_view suffix : tensor_suffixes) {
      if (text.ends_with(suffix)) globs_.emplace_back(text.substr(0, text.size() - suffix.size()));
    }
    globs_.push_back(fmt::format("{}/*", text));
  }

  bool matches(const std::string& path) const {
    return std::ranges::any_of(
        globs_, [&](const std::string& glob) { return glob == path || ::fnmatch(glob.c_str(), path.c_str(), 0) == 0; });
  }

 private:
  std::vector<std::string> globs_;
};

}  // namespace

std::vector<uint32_t> select_tensors(const Catalog& catalog, const Tree& tree, const std::vector<std::string>& patterns,
                                     const std::string& what) {
  const std::vector<Pattern> wanted(patterns.begin(), patterns.end());
  std::vector<bool> was_met(wanted.size());
  std::vector<uint32_t> selected;
  for (uint32_t tensor = 0; tensor < catalog.tensors().size(); ++tensor) {
    bool is_selected = wanted.empty();
    const std::string path = wanted.empty() ? "" : tree.path_of_tensor(tensor);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i].matches(path)) continue;
      was_met[i] = is_selected = true;
    }
    if (is_selected) selected.push_back(tensor);
  }
  if (const auto unmet = std::ranges::find(was_met, false); unmet != was_met.end()) {
    fail(ENOENT, "{} has no tensor \"{}\"; `onnxfs ls` lists them", what, printable(patterns[unmet - was_met.begin()]));
  }
  return selected;
}

}  // namespace onnxfs
