#pragma once

#include <string>
#include <vector>

#include "core/analysis/histogram.h"

namespace onnxfs {

// How many columns standard output has, within what can be drawn in; 80 when it is no terminal.
size_t terminal_width();

// How many bars a drawing of so many columns has at most: what the labels of `most`, the largest count, leave.
size_t most_bars(size_t width, uint64_t most);

// Bins as bars of block characters, with the largest count and the edges at the axes; a line each, at most `width`
// columns wide. A bin that is not empty is seen. `total` is what the counts sum to, which the axis leaves room for. Of
// `integers` the axis ends with the largest one that the last bin takes, and not at its edge.
std::vector<std::string> draw_histogram(const Histogram::Bins& bins, size_t width, uint64_t total,
                                        bool integers = false);

// The drawing of numbers that are all the same: one bar, with the value beneath it.
std::vector<std::string> draw_single_value(const std::string& value, size_t width, uint64_t count);

}  // namespace onnxfs
