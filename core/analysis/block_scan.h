#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace onnxfs {

// What one look at each number of a block tells. Of numbers that are not all finite, and of some that are very large,
// the squares are not finite either, and the rest means nothing.
struct BlockScan {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double distances = 0, squares = 0;  // from the pivot, summed
  int64_t small = 0;                  // in magnitude, than `least`
};

// Sums are the same for floats as for the doubles that they are.
BlockScan scan_block(const double* values, size_t count, double least, double pivot);
BlockScan scan_block(const float* values, size_t count, double least, double pivot);

}  // namespace onnxfs
