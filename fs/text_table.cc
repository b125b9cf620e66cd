#include "fs/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace onnxfs {

namespace {

constexpr size_t widest_padded = 64;

// In characters, which are as wide as a terminal's cell in nearly all names.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string TextTable::text() const {
  std::vector<size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (const size_t width = width_of(row[i]); width <= widest_padded) widths[i] = std::max(widths[i], width);
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    size_t spaces = 0;  // that are due before the next cell that is not empty
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t width = width_of(row[i]);
      const size_t padding = widths[i] - std::min(widths[i], width);
      const bool right = columns_[i] == Align::right;
      if (right) spaces += padding;
      if (width != 0) text.append(spaces, ' ').append(row[i]);
      if (width != 0) spaces = 0;
      spaces += (right ? 0 : padding) + 2;
    }
    text += '\n';
  }
  return text;
}

std::string bar(uint64_t part, uint64_t whole, unsigned width) {
  static constexpr std::array<std::string_view, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (part == 0 || whole == 0) return "";
  const double share = std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
  const auto filled = std::max(1U, static_cast<unsigned>(std::lround(share * 8 * width)));
  std::string text;
  for (unsigned i = 0; i < filled / 8; ++i) text += "█";
  return text.append(eighths[filled % 8]);
}

}  // namespace onnxfs
