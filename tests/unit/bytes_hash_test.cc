#include "core/bytes/hash.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include "tests/unit/errors.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

// As `xxhsum -H2` prints them.
TEST(Xxh128, IsThatOfTheTool) {
  EXPECT_EQ(xxh128(Rope()), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(xxh128(Rope::of("a")), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(xxh128(Rope::of("abc")), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(xxh128(Rope::of(std::string(1'000'000, '\0'))), "ef233fc372a159319d648391f361d99a");
  EXPECT_EQ(xxh128(Rope::of("abc")).size(), xxh128_length);
}

TEST(Xxh128, IsThatOfTheContentAndNotOfItsPieces) {
  std::string text;
  for (int i = 0; i < 700'000; ++i) text += static_cast<char>(i * 31 >> 3);
  const std::string whole = xxh128(Rope::of(text));
  std::vector<Extent> extents;
  for (size_t at = 0; at < text.size(); at += 12'345) {
    const std::string piece = text.substr(at, 12'345);
    extents.push_back({testing::guarded("pad" + piece), 3, piece.size()});
  }
  EXPECT_EQ(xxh128(Rope(std::move(extents))), whole);
  text.back() = static_cast<char>(text.back() ^ 1);
  EXPECT_NE(xxh128(Rope::of(text)), whole);
}

TEST(Xxh128, FailsWhereItsContentCannotBeRead) {
  const SourcePtr failing = std::make_shared<testing::FailingSource>(10, ESTALE);
  EXPECT_ERROR(xxh128(Rope({{failing, 0, 10}})), ESTALE, "on fire");
}

// By the functions for every processor, which onnxfs does not use where the library has faster ones.
TEST(Xxh3, IsThatOfTheLibrary) {
  std::string text;
  for (int i = 0; i < 700'000; ++i) text += static_cast<char>(i * 37 >> 2);
  const Rope rope = Rope::of(text);
  for (const size_t length : {0, 1, 17, 240, 241, 100'000, 262'144, 262'145, 699'000}) {
    const uint64_t right = XXH3_64bits(&text[1000], length);
    EXPECT_EQ(xxh3(std::as_bytes(std::span(text).subspan(1000, length))), right) << length;
    EXPECT_EQ(xxh3(rope, 1000, length), right) << length;
  }
}

}  // namespace
}  // namespace onnxfs
