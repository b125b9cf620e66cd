#include "fs/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace onnxfs {
namespace {

using Words = std::vector<std::string_view>;

TEST(EditDistance, CountsWhatHasToChange) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("commit", "comit"), 1u);
  EXPECT_EQ(edit_distance("check", "chekc"), 1u) << "two that are swapped";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u) << "no character is touched twice";
  EXPECT_EQ(edit_distance("LS", "ls"), 0u);
}

TEST(Nearest, AreTheNearestInTheirOrder) {
  constexpr std::array<std::string_view, 4> words{"stats", "status", "ls", "stabs"};
  EXPECT_EQ(nearest("stat", words, 2), (Words{"stats"}));
  EXPECT_EQ(nearest("stags", words, 2), (Words{"stats", "stabs"}));
  EXPECT_EQ(nearest("stags", words, 1), (Words{"stats"}));
  EXPECT_EQ(nearest("quite another", words, 2), Words());
  EXPECT_EQ(nearest("", words, 2), Words());
}

TEST(DidYouMean, IsAQuestion) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean(Words{"a"}), "; did you mean a?");
  EXPECT_EQ(did_you_mean(Words{"a", "b", "c"}), "; did you mean a, b or c?");
}

}  // namespace
}  // namespace onnxfs
