#include "core/bytes/patch.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

SourcePtr text_source(std::string text) { return std::make_shared<MemorySource>(std::move(text)); }

std::string patched_text(const std::string& text, std::vector<Patch> patches) {
  sort_patches(patches);
  return patched(text_source(text), patches).text();
}

TEST(Patch, TakesThePlaceOfItsRange) {
  EXPECT_EQ(patched_text("abcdef", {}), "abcdef");
  EXPECT_EQ(patched_text("abcdef", {{{4, 5}, Rope::of("E")}, {{0, 2}, Rope::of("__-__")}}), "__-__cdEf");
  EXPECT_EQ(patched_text("abcdef", {{{0, 6}, Rope()}}), "");
  EXPECT_EQ(patched_text("", {{{0, 0}, Rope::of("new")}}), "new");
}

TEST(Patch, InsertionsAtOnePlaceKeepTheirOrderAndComeFirst) {
  EXPECT_EQ(patched_text("abc", {{{1, 2}, Rope::of("B")}, {{1, 1}, Rope::of("1")}, {{1, 1}, Rope::of("2")}}), "a12Bc");
  EXPECT_EQ(patched_text("abc", {{{3, 3}, Rope::of("!")}, {{2, 3}, Rope()}}), "ab!");
}

TEST(Patch, SharesTheSourceAroundPatches) {
  const SourcePtr source = text_source("abcdef");
  const auto extents = patched(source, {{{2, 3}, Rope::of("C")}}).extents();
  ASSERT_EQ(extents.size(), 3U);
  EXPECT_EQ(extents[0].source, source);
  EXPECT_EQ(extents[2].source, source);
  EXPECT_EQ(extents[2].offset, 3U);
}

TEST(Patch, TwoOnTheSameBytesAreAnError) {
  std::vector<Patch> patches{{{0, 3}, Rope::of("abc")}, {{2, 4}, Rope::of("xy")}};
  EXPECT_ERROR(sort_patches(patches), EINVAL, "overlap at offset 2");
  std::vector<Patch> inside{{{0, 3}, Rope::of("abc")}, {{1, 1}, Rope::of("x")}};
  EXPECT_ERROR(sort_patches(inside), EINVAL, "overlap at offset 1");
}

TEST(ChangedRanges, AreThoseOfOtherBytesOrOtherPlaces) {
  const Rope original = Rope::of("0123456789");
  EXPECT_TRUE(changed_ranges(original, original).empty());
  EXPECT_TRUE(changed_ranges(Rope(), Rope()).empty());
  const Rope edited = original.spliced(2, 2, Rope::of("23")).spliced(4, 1, Rope::of("x")).spliced(9, 1, Rope::of("y"));
  EXPECT_EQ(changed_ranges(original, edited), (std::vector<ByteRange>{{2, 5}, {9, 10}}));
  const Rope moved(std::vector<Extent>{{original.extents()[0].source, 1, 9}, {original.extents()[0].source, 0, 1}});
  EXPECT_EQ(changed_ranges(original, moved), (std::vector<ByteRange>{{0, 10}}));
}

}  // namespace
}  // namespace onnxfs
