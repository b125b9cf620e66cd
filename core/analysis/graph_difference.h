#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace onnxfs {

// Which nodes tell two graphs apart, as lines of graph.txt. A node that is only in another place is no difference: the
// order of nodes means nothing but that they can run in it.
struct GraphDifference {
  std::vector<std::string> removed;                          // only in the first, in its order
  std::vector<std::string> added;                            // only in the second
  std::vector<std::pair<std::string, std::string>> changed;  // of one name, or else of the same outputs

  bool empty() const noexcept { return removed.empty() && added.empty() && changed.empty(); }
};

// Of two texts that graph_txt made. Its cost is about that of reading them.
GraphDifference graph_difference(std::string_view a, std::string_view b);

// The text with names in place of others, wherever a node has them as they are (see plain_name).
std::string with_other_names(std::string_view text, const std::unordered_map<std::string, std::string>& names);

}  // namespace onnxfs
