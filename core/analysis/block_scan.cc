#include "core/analysis/block_scan.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/vectors.h"

namespace onnxfs {

namespace {

constexpr size_t step = 2 * lanes;

// Distances of `step` numbers, whose sums do not wait for one another.
struct Sums {
  Doubles distances[2] = {}, squares[2] = {};

  ONNXFS_INLINE void add(size_t half, const Doubles& x, double pivot) {
    const Doubles distance = x - pivot;
    distances[half] += distance;
    squares[half] += distance * distance;
  }
};

// What the vectors have come to, and then the numbers that fill none.
template <typename T, typename Vector>
ONNXFS_INLINE BlockScan finish(const Vector& min, const Vector& max, const Sums& sums, int64_t small, const T* rest,
                               size_t count, double least, double pivot) {
  BlockScan result;
  for (size_t k = 0; k < sizeof min / sizeof(T); ++k) {
    result.min = std::min<double>(result.min, min[k]);
    result.max = std::max<double>(result.max, max[k]);
  }
  result.distances = sum_of(sums.distances[0] + sums.distances[1]);
  result.squares = sum_of(sums.squares[0] + sums.squares[1]);
  result.small = small;
  for (size_t i = 0; i < count; ++i) {
    const double x = rest[i], distance = x - pivot;
    if (x < result.min) result.min = x;
    if (x > result.max) result.max = x;
    result.small += std::fabs(x) < least;
    result.distances += distance;
    result.squares += distance * distance;
  }
  return result;
}

}  // namespace

ONNXFS_VECTORISED BlockScan scan_block(const double* values, size_t count, double least, double pivot) {
  Doubles min = Doubles{} + std::numeric_limits<double>::infinity(), max = -min;
  Sums sums;
  Masks small = {};
  size_t i = 0;
  for (; i + step <= count; i += step) {
    for (size_t k = 0; k < 2; ++k) {
      Doubles x;
      load(values + i + k * lanes, x);
      min = x < min ? x : min;
      max = x > max ? x : max;
      small -= magnitude_of(x) < least;
      sums.add(k, x, pivot);
    }
  }
  return finish(min, max, sums, sum_of(small), values + i, count - i, least, pivot);
}

// Ends and what is small are found among floats, twice as many at a time; only sums want doubles.
ONNXFS_VECTORISED BlockScan scan_block(const float* values, size_t count, double least, double pivot) {
  const auto least_float = static_cast<float>(least);
  Floats min = Floats{} + std::numeric_limits<float>::infinity(), max = -min;
  Sums sums;
  FloatMasks small = {};
  size_t i = 0;
  for (; i + step <= count; i += step) {
    Floats x;
    load(values + i, x);
    min = x < min ? x : min;
    max = x > max ? x : max;
    small -= magnitude_of(x) < least_float;
    for (size_t k = 0; k < 2; ++k) {
      Doubles half;
      load(values + i + k * lanes, half);
      sums.add(k, half, pivot);
    }
  }
  int64_t small_count = 0;
  for (size_t k = 0; k < float_lanes; ++k) small_count += small[k];
  return finish(min, max, sums, small_count, values + i, count - i, least, pivot);
}

}  // namespace onnxfs
