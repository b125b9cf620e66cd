#include "core/analysis/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace onnxfs {
namespace {

using Values = std::vector<double>;

void add(Histogram& histogram, const Values& values) {
  static Histogram::Recent recent;
  histogram.lend(recent);
  const auto [low, high] = std::ranges::minmax(values);
  histogram.cover(low, high);
  histogram.add(values);
}

Histogram of(const Values& values, int finest = -1022) {
  Histogram histogram(finest);
  add(histogram, values);
  histogram.settle();
  return histogram;
}

// That each count is of the values from its edge to the next.
void expect_exact(const Histogram::Bins& bins, const Values& values) {
  ASSERT_EQ(bins.edges.size(), bins.counts.size() + 1);
  for (size_t i = 0; i < bins.counts.size(); ++i) {
    const auto inside = std::ranges::count_if(
        values, [&](double value) { return value >= bins.edges[i] && value < bins.edges[i + 1]; });
    EXPECT_EQ(bins.counts[i], static_cast<uint64_t>(inside)) << bins.edges[i];
  }
  EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), uint64_t{0}), values.size());
}

TEST(Histogram, OfNothingHasNoBins) {
  Histogram histogram;
  histogram.settle();
  EXPECT_TRUE(histogram.bins(10).counts.empty());
  EXPECT_TRUE(histogram.bins(10).edges.empty());
}

TEST(Histogram, CountsExactlyWhereverTheValuesAre) {
  constexpr double largest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  for (const Values& values :
       {Values{0}, Values{-0.0, 0}, Values{1, 1, 1}, Values{-1, 1}, Values{1000, 1000.0001, 1000.0002},
        Values{-least, least, 0}, Values{-largest, largest, 0}, Values{-least, 1e300}, Values{largest, largest},
        Values{-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}, Values{1e-300, 2e-300}}) {
    for (const size_t most : {1, 2, 5, 64, 4096}) {
      const auto bins = of(values).bins(most);
      EXPECT_LE(bins.counts.size(), most);
      // An edge past the largest double is that one, so it counts as less.
      if (std::ranges::find(values, largest) == values.end()) expect_exact(bins, values);
    }
  }
}

TEST(Histogram, GrowsWithItsValuesAndStaysExact) {
  std::mt19937_64 random(1);
  Values all;
  Histogram histogram;
  for (int step = 0; step < 60; ++step) {
    std::normal_distribution<double> distribution(0, std::ldexp(1.0, step - 40));
    Values values(500);
    for (double& value : values) value = distribution(random);
    add(histogram, values);
    all.insert(all.end(), values.begin(), values.end());
  }
  histogram.settle();
  const auto bins = histogram.bins(50);
  EXPECT_GE(bins.counts.size(), 25u);
  EXPECT_NE(std::ranges::find(bins.edges, 0.0), bins.edges.end());
  expect_exact(bins, all);
}

TEST(Histogram, PartsAddUpInAnyOrder) {
  const Values a{1, 2, 3, 1e-9}, b{-50, 1e6, 0.1}, c{0};
  Values all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  Histogram forward = of(a), backward = of(c);
  forward.add(of(b));
  forward.add(of(c));
  backward.add(of(b));
  backward.add(of(a));
  backward.add(Histogram());
  EXPECT_EQ(forward.bins(20).edges, backward.bins(20).edges);
  EXPECT_EQ(forward.bins(20).counts, backward.bins(20).counts);
  expect_exact(forward.bins(20), all);
}

TEST(Histogram, FloatsAreCountedAsTheDoublesThatTheyAre) {
  std::mt19937_64 random(2);
  for (int exponent = -149; exponent < 123; ++exponent) {
    std::normal_distribution<float> distribution(exponent % 3 == 0 ? 0.0f : 5.0f, 1);
    std::vector<float> floats(1000);
    for (float& value : floats) value = std::ldexp(distribution(random), exponent);
    floats[7] = std::numeric_limits<float>::denorm_min();
    floats[8] = -floats[7];
    floats[9] = std::ldexp(1.0f, exponent);
    floats[10] = -floats[9];
    const Values doubles(floats.begin(), floats.end());
    static Histogram::Recent recent;
    Histogram histogram;
    histogram.lend(recent);
    const auto [low, high] = std::ranges::minmax(doubles);
    histogram.cover(low, high);
    histogram.add(floats);
    histogram.settle();
    EXPECT_EQ(histogram.bins(4096).counts, of(doubles).bins(4096).counts) << exponent;
    expect_exact(histogram.bins(4096), doubles);
  }
}

TEST(Histogram, BinsOfIntegersAreWhole) {
  const auto bins = of({0, 1, 1, 3}, 0).bins(64);
  EXPECT_EQ(bins.edges, (Values{0, 1, 2, 3, 4}));
  EXPECT_EQ(bins.counts, (std::vector<uint64_t>{1, 2, 0, 1}));
}

}  // namespace
}  // namespace onnxfs
