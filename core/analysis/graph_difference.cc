#include "core/analysis/graph_difference.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace onnxfs {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The lines of `lines` that `other` has not, each as often as it is there more often.
std::vector<std::string_view> without(const std::vector<std::string_view>& lines,
                                      const std::vector<std::string_view>& other) {
  std::unordered_map<std::string_view, size_t> there;
  for (const std::string_view line : other) ++there[line];
  std::vector<std::string_view> rest;
  for (const std::string_view line : lines) {
    const auto found = there.find(line);
    if (found == there.end() || found->second == 0) rest.push_back(line);
    else --found->second;
  }
  return rest;
}

// What a node is told by from one export to the next: where its graph is nested, and its name, or else its outputs.
// Empty for one that has neither.
std::string key_of(std::string_view line) {
  constexpr std::string_view name_mark = " # ", output_mark = " = ", prefix_mark = ": ";
  const size_t begin = std::min(line.find('('), line.size());
  size_t prefix = line.substr(0, begin).find(prefix_mark);
  prefix = prefix == std::string_view::npos ? 0 : prefix + prefix_mark.size();
  std::string key(line.substr(0, prefix));
  if (const size_t name = line.rfind(name_mark); name != std::string_view::npos && name > begin) {
    return key.append(line.substr(name));
  }
  const size_t outputs = line.substr(0, begin).find(output_mark);
  if (outputs == std::string_view::npos) return {};
  return key.append(line.substr(prefix, outputs - prefix));
}

}  // namespace

GraphDifference graph_difference(std::string_view a, std::string_view b) {
  GraphDifference difference;
  if (a == b) return difference;
  const auto lines_a = lines_of(a), lines_b = lines_of(b);
  const auto only_a = without(lines_a, lines_b), only_b = without(lines_b, lines_a);
  // By key the lines of `b` that may be changed ones of `a`, the last one first.
  std::unordered_map<std::string, std::vector<size_t>> by_key;
  for (size_t i = only_b.size(); i-- != 0;) {
    if (std::string key = key_of(only_b[i]); !key.empty()) by_key[std::move(key)].push_back(i);
  }
  std::vector<bool> is_changed(only_b.size());
  for (const std::string_view line : only_a) {
    const auto found = by_key.find(key_of(line));
    if (found == by_key.end() || found->second.empty()) {
      difference.removed.emplace_back(line);
      continue;
    }
    const size_t other = found->second.back();
    found->second.pop_back();
    is_changed[other] = true;
    difference.changed.emplace_back(line, only_b[other]);
  }
  for (size_t i = 0; i < only_b.size(); ++i) {
    if (!is_changed[i]) difference.added.emplace_back(only_b[i]);
  }
  return difference;
}

std::string with_other_names(std::string_view text, const std::unordered_map<std::string, std::string>& names) {
  constexpr std::string_view structure = " ,(){}=\"#[]\n";  // none of which is in a plain name
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(structure), text.size());
    const std::string word(text.substr(0, end));
    const auto found = names.find(word);
    result += found == names.end() ? word : found->second;
    text.remove_prefix(end);
    if (text.empty()) break;
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace onnxfs
