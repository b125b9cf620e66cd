#include "fs/histogram_drawing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace onnxfs {
namespace {

using Lines = std::vector<std::string>;

TEST(DrawHistogram, BarsAreAsHighAsTheirCounts) {
  EXPECT_EQ(draw_histogram({{-2, -1, 0, 1}, {48, 1, 24}}, 20, 73), (Lines{
                                                                       "    48 ┤████",
                                                                       "       │████",
                                                                       "       │████",
                                                                       "       │████    ████",
                                                                       "       │████    ████",
                                                                       "       │████▁▁▁▁████",
                                                                       "       └────────────",
                                                                       "        -2      0   1",
                                                                   }));
}

TEST(DrawHistogram, OneBinFillsTheWidthAndSmallOnesAreSeen) {
  const Lines one = draw_histogram({{0, 1}, {5}}, 40, 5);
  EXPECT_EQ(one.back(), fmt::format("        0{:>32}", 1));
  const Lines small = draw_histogram({{0, 1, 2}, {1'000'000, 1}}, 40, 1'000'001);
  EXPECT_NE(small[5].find("▁"), std::string::npos);
}

TEST(DrawHistogram, TheAxisOfIntegersEndsWithOne) {
  const Lines lines = draw_histogram({{0, 1, 2}, {3, 4}}, 20, 7, true);
  EXPECT_EQ(lines.back(), "        0           1");
  EXPECT_EQ(draw_histogram({{0, 128, 256}, {3, 4}}, 20, 7, true).back(), "        0         255");
}

TEST(DrawHistogram, ASingleValueIsItsOnlyLabel) {
  const Lines lines = draw_single_value("0", 20, 7);
  EXPECT_EQ(lines.front(), "     7 ┤████████████");
  EXPECT_EQ(lines.back(), "             0");
}

TEST(MostBars, IsWhatTheLabelsLeave) {
  EXPECT_EQ(most_bars(80, 5), 72u);
  EXPECT_EQ(most_bars(80, 123'456'789), 67u);
}

}  // namespace
}  // namespace onnxfs
