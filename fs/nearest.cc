#include "fs/nearest.h"

#include <algorithm>
#include <cctype>

namespace onnxfs {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between beginnings of a (the row) and of b (the column).
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      const bool is_swapped = i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y;
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> words, size_t most) {
  std::vector<std::string_view> found;
  size_t least = word.size() < 2 ? 0 : std::max<size_t>(1, word.size() / 3);
  for (const std::string_view candidate : words) {
    const size_t longer = std::max(word.size(), candidate.size()), shorter = std::min(word.size(), candidate.size());
    if (longer - shorter > least) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance > least) continue;
    if (distance < least) found.clear();
    least = distance;
    if (found.size() < most) found.push_back(candidate);
  }
  return found;
}

std::string did_you_mean(std::span<const std::string_view> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text.append(i == 0 ? "; did you mean " : i + 1 == words.size() ? " or " : ", ").append(words[i]);
  }
  return text.empty() ? text : text.append("?");
}

}  // namespace onnxfs
