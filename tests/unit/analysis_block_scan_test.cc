#include "core/analysis/block_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace onnxfs {
namespace {

void expect_equal(const BlockScan& a, const BlockScan& b) {
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.distances, b.distances);
  EXPECT_EQ(a.squares, b.squares);
  EXPECT_EQ(a.small, b.small);
}

TEST(BlockScan, FloatsAreScannedAsTheDoublesThatTheyAre) {
  constexpr double least = std::numeric_limits<float>::min();
  std::mt19937_64 random(1);
  std::normal_distribution<float> distribution(1, 2);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<float> floats(count);
    for (size_t i = 0; i < count; ++i) floats[i] = std::ldexp(distribution(random), static_cast<int>(i % 7) * -30);
    const std::vector<double> doubles(floats.begin(), floats.end());
    const BlockScan scanned = scan_block(floats.data(), count, least, 0.75);
    expect_equal(scanned, scan_block(doubles.data(), count, least, 0.75));
    int64_t small = 0;
    double distances = 0;
    for (const double value : doubles) {
      small += std::fabs(value) < least;
      distances += value - 0.75;
    }
    EXPECT_EQ(scanned.small, small);
    EXPECT_NEAR(scanned.distances, distances, 1e-12);
  }
}

TEST(BlockScan, SquaresTellWhatIsNotFinite) {
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    for (size_t at = 0; at < 37; ++at) {
      std::vector<float> floats(37, 1);
      floats[at] = odd;
      EXPECT_FALSE(std::isfinite(scan_block(floats.data(), floats.size(), 0, 1).squares)) << odd << " at " << at;
    }
  }
  const std::vector<float> largest(37, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(scan_block(largest.data(), largest.size(), 0, -1).squares));
}

}  // namespace
}  // namespace onnxfs
