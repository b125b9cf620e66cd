#include "core/analysis/moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace onnxfs {
namespace {

Moments of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  Moments moments;
  moments.add(values, largest);
  return moments;
}

TEST(Moments, OfNothingAreZero) {
  const Moments moments = of({});
  EXPECT_EQ(moments.count(), 0u);
  EXPECT_EQ(moments.mean(), 0);
  EXPECT_EQ(moments.deviation(), 0);
  EXPECT_EQ(moments.l2(), 0);
}

TEST(Moments, OfAFewNumbers) {
  for (const double unit : {1.0, 0x1p-900, 0x1p900, 0x1p-1060}) {
    const Moments moments = of({2 * unit, 4 * unit, 4 * unit, 4 * unit, 5 * unit, 5 * unit, 7 * unit, 9 * unit});
    EXPECT_EQ(moments.mean(), 5 * unit);
    EXPECT_EQ(moments.deviation(), 2 * unit);
    EXPECT_DOUBLE_EQ(moments.l2(), std::sqrt(232.0) * unit);
  }
}

TEST(Moments, PartsOfAnySizeAddUp) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> distribution(1e8, 1);
  std::vector<double> all(5000);
  for (double& value : all) value = distribution(random);
  Moments parts;
  for (size_t at = 0, n = 1; at < all.size(); at += n, n = 3 * n + 1) {
    n = std::min(n, all.size() - at);
    parts.add(of({all.begin() + static_cast<ptrdiff_t>(at), all.begin() + static_cast<ptrdiff_t>(at + n)}));
  }
  const Moments whole = of(all);
  EXPECT_EQ(parts.count(), all.size());
  EXPECT_NEAR(parts.mean(), whole.mean(), 1e-8);
  EXPECT_NEAR(parts.deviation(), whole.deviation(), 1e-14);
}

// Blocks near each other, which is how weights are; far from zero; and far from each other, where distances from the
// mean of what was there are large.
TEST(Moments, OnePassAboutTheMeanOfWhatIsThereIsAsExactAsTwo) {
  constexpr size_t block = 2048, blocks = 50;
  for (const auto& [center, step] : std::vector<std::pair<double, double>>{{0, 0}, {1e8, 0}, {1, 1e6}, {-1e3, 1e9}}) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> distribution(0, 1);
    std::vector<long double> all;
    Moments one_pass;
    for (size_t i = 0; i < blocks; ++i) {
      const double mean = center + step * static_cast<double>(i * i % 7);
      std::vector<double> values(block);
      for (double& value : values) value = mean + distribution(random);
      all.insert(all.end(), values.begin(), values.end());
      if (i == 0) {
        one_pass = of(values);
        continue;
      }
      const double pivot = one_pass.mean();
      double distances = 0, squares = 0;
      for (const double value : values) {
        distances += value - pivot;
        squares += (value - pivot) * (value - pivot);
      }
      one_pass.add(block, pivot, distances, squares);
    }
    const auto count = static_cast<long double>(all.size());
    const long double mean = std::accumulate(all.begin(), all.end(), 0.0L) / count;
    long double squares = 0;
    for (const long double value : all) squares += (value - mean) * (value - mean);
    const auto deviation = static_cast<double>(std::sqrt(squares / count));
    EXPECT_EQ(one_pass.count(), all.size());
    EXPECT_NEAR(one_pass.mean(), static_cast<double>(mean), 1e-14 * (std::fabs(center) + 6 * step + 1)) << center;
    EXPECT_NEAR(one_pass.deviation(), deviation, 1e-13 * deviation) << center << " " << step;
  }
}

TEST(Moments, NumbersThatAreAddedManyTimesCountAsOften) {
  Moments weighted;
  weighted.add(0.0, 3);
  weighted.add(-1.5, 0);
  weighted.add(2.5, 2);
  const Moments plain = of({0, 0, 0, 2.5, 2.5});
  EXPECT_EQ(weighted.count(), 5u);
  EXPECT_DOUBLE_EQ(weighted.mean(), plain.mean());
  EXPECT_DOUBLE_EQ(weighted.deviation(), plain.deviation());
}

TEST(Moments, ZerosBesideTinyAndHugeNumbersAreNoNumbersLost) {
  for (const double unit : {0x1p-1000, 0x1p1000}) {
    Moments moments = of({0, 0});
    moments.add(of({4 * unit, 4 * unit}));
    moments.add(of({0, 0}));
    EXPECT_DOUBLE_EQ(moments.mean(), 4 * unit / 3);
    EXPECT_DOUBLE_EQ(moments.l2(), std::sqrt(32.0) * unit);
  }
  constexpr double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(of({largest, largest, -largest, -largest}).deviation(), largest);
  EXPECT_EQ(of({largest, largest}).l2(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace onnxfs
