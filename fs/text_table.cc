#include "fs/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace onnxfs {

namespace {

constexpr size_t widest_padded = 512;
constexpr size_t narrowest_cut = 24;
constexpr size_t widest_last = 30;  // of a last cell that all of a line is to be in sight for

// In characters, which are as wide as a terminal's cell in nearly all names.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

// Where a character begins that so many stand before; the text's size where there are no more.
size_t offset_of(std::string_view text, size_t characters) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xc0) != 0x80 && characters-- == 0) break;
  }
  return at;
}

// The end is what tells names apart, and has the larger half.
std::string cut_in_the_middle(const std::string& text, size_t width) {
  const size_t is_wide = width_of(text);
  if (is_wide <= width) return text;
  const size_t left = (width - 1) / 3, right = width - 1 - left;
  return text.substr(0, offset_of(text, left)) + "…" + text.substr(offset_of(text, is_wide - right));
}

}  // namespace

std::string TextTable::text(std::optional<size_t> columns) const {
  if (!columns) return padded(rows_);
  size_t first = 0;
  std::vector<size_t> others(columns_.size());
  for (const auto& row : rows_) {
    for (size_t i = 1; i < row.size(); ++i) others[i] = std::max(others[i], width_of(row[i]));
    if (!row.empty()) first = std::max(first, width_of(row.front()));
  }
  size_t taken = 0;
  for (size_t i = 1; i < others.size(); ++i) {
    const bool is_sentence = i + 1 == others.size() && others[i] > widest_last;
    taken += others[i] == 0 || is_sentence ? 0 : others[i] + 2;
  }
  const size_t room = std::max(narrowest_cut, *columns - std::min(*columns, taken));
  if (first <= room) return padded(rows_);
  auto rows = rows_;
  for (auto& row : rows) {
    if (!row.empty()) row.front() = cut_in_the_middle(row.front(), room);
  }
  return padded(rows);
}

std::string TextTable::padded(const std::vector<std::vector<std::string>>& rows) const {
  std::vector<size_t> widths(columns_.size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (const size_t width = width_of(row[i]); width <= widest_padded) widths[i] = std::max(widths[i], width);
    }
  }
  std::string text;
  for (const auto& row : rows) {
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
