#include "fs/histogram_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "fs/terminal.h"

namespace onnxfs {

namespace {

constexpr uint64_t rows = 6;
constexpr uint64_t eighths = 8;  // of a row, which block characters can fill
constexpr size_t narrowest = 40, widest = 200;

constexpr std::string_view blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

size_t label_width(uint64_t most) { return std::max<size_t>(fmt::formatted_size("{}", most), 4) + 2; }

// In eighths of a row.
uint64_t height_of(uint64_t count, uint64_t most) {
  const double share = static_cast<double>(count) / static_cast<double>(most);
  return count == 0 ? 0 : std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(share * rows * eighths)));
}

// The edges at both ends, and 0 where it is one between them and has room.
std::string axis_labels(const Histogram::Bins& bins, size_t indent, size_t bar, bool integers) {
  const size_t width = bins.counts.size() * bar;
  const double last = bins.edges.back();
  const std::string left = fmt::format("{:.4g}", integers ? std::ceil(bins.edges.front()) : bins.edges.front());
  const std::string right = fmt::format("{:.4g}", integers ? std::ceil(last) - 1 : last);
  std::string line(std::max(width + 1, left.size() + 1 + right.size()), ' ');
  line.replace(0, left.size(), left);
  line.replace(line.size() - right.size(), right.size(), right);
  const auto zero = std::ranges::find(bins.edges, 0.0);
  const size_t at = static_cast<size_t>(zero - bins.edges.begin()) * bar;
  if (zero != bins.edges.end() && at > left.size() && at + 1 < line.size() - right.size()) line[at] = '0';
  return std::string(indent, ' ') + line;
}

}  // namespace

size_t terminal_width() {
  return std::clamp(terminal_columns(STDOUT_FILENO).value_or(usual_columns), narrowest, widest);
}

size_t most_bars(size_t width, uint64_t most) { return width - label_width(most) - 2; }

std::vector<std::string> draw_histogram(const Histogram::Bins& bins, size_t width, uint64_t total, bool integers) {
  const uint64_t most = *std::ranges::max_element(bins.counts);
  const size_t label = label_width(total);
  const size_t bar = std::max<size_t>(1, most_bars(width, total) / bins.counts.size());
  std::vector<std::string> lines;
  for (uint64_t row = rows; row-- != 0;) {
    std::string line = row == rows - 1 ? fmt::format("{:>{}} ┤", most, label) : fmt::format("{:>{}} │", "", label);
    for (const uint64_t count : bins.counts) {
      const uint64_t below = row * eighths;
      const uint64_t height = height_of(count, most);
      line += repeated(blocks[height <= below ? 0 : std::min(height - below, eighths)], bar);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  lines.push_back(fmt::format("{:>{}} └{}", "", label, repeated("─", bins.counts.size() * bar)));
  lines.push_back(axis_labels(bins, label + 2, bar, integers));
  return lines;
}

std::vector<std::string> draw_single_value(const std::string& value, size_t width, uint64_t count) {
  auto lines = draw_histogram({{0, 1}, {count}}, width, count);
  const size_t indent = label_width(count) + 2, bar = most_bars(width, count);
  lines.back() = fmt::format("{:{}}{:^{}}", "", indent, value, bar);
  lines.back().erase(lines.back().find_last_not_of(' ') + 1);
  return lines;
}

}  // namespace onnxfs
