#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnxfs {

// Columns for a person's eyes: padded with spaces to the width of their widest cell. A cell wider than any name that
// somebody would read pushes the rest of its own line to the right, and not that of all lines. Lines end with no
// spaces.
//
// Cells are text that may go to a terminal (printable).
class TextTable {
 public:
  enum class Align { left, right };

  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // At most as many cells as there are columns.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  // For a terminal of so many columns, cells of the first one are cut in the middle ("initial…weight") where lines
  // would be too long otherwise; the last cells of lines may still be, and nothing is cut to less than can be told
  // apart.
  std::string text(std::optional<size_t> columns = std::nullopt) const;

 private:
  std::string padded(const std::vector<std::vector<std::string>>& rows) const;

  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// As much of `width` characters as `part` is of `whole`, in eighths of a character: "████▌". Anything more than nothing
// shows.
std::string bar(uint64_t part, uint64_t whole, unsigned width);

}  // namespace onnxfs
