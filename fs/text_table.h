#pragma once

#include <string>
#include <vector>

namespace onnxfs {

// Columns for a person's eyes: padded with spaces to the width of their widest cell. A cell much wider than the rest
// pushes the rest of its own line to the right, and not that of all lines. Lines end with no spaces.
//
// Cells are text that may go to a terminal (printable).
class TextTable {
 public:
  enum class Align { left, right };

  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // At most as many cells as there are columns.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// As much of `width` characters as `part` is of `whole`, in eighths of a character: "████▌". Anything more than nothing
// shows.
std::string bar(uint64_t part, uint64_t whole, unsigned width);

}  // namespace onnxfs
