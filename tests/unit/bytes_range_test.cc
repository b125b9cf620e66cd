#include "core/bytes/range.h"

#include <gtest/gtest.h>

namespace onnxfs {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t all = UINT64_MAX;
constexpr uint64_t edges[] = {
    0,       1,           2,       7,       0x7fff'ffff, 0x8000'0000, 0xffff'ffff, 0x1'0000'0000,
    all / 2, all / 2 + 1, all - 7, all - 2, all - 1,     all};

TEST(Range, FitsAgreesWithWiderArithmetic) {
  for (const uint64_t offset : edges) {
    for (const uint64_t length : edges) {
      for (const uint64_t size : edges) {
        EXPECT_EQ(fits(offset, length, size), Wide{offset} + length <= size) << offset << " " << length << " " << size;
      }
    }
  }
}

TEST(Range, NothingFitsAtTheEndOfNothing) {
  EXPECT_TRUE(fits(0, 0, 0));
  EXPECT_TRUE(fits(5, 0, 5));
  EXPECT_FALSE(fits(6, 0, 5));
}

TEST(Range, CheckedMultiplyAgreesWithWiderArithmetic) {
  for (const uint64_t a : edges) {
    for (const uint64_t b : edges) {
      const Wide product = Wide{a} * b;
      const auto checked = checked_multiply(a, b);
      EXPECT_EQ(checked.has_value(), product <= all) << a << " * " << b;
      EXPECT_EQ(checked.value_or(0), checked ? static_cast<uint64_t>(product) : 0) << a << " * " << b;
    }
  }
}

TEST(Range, SizeIsWhatLiesBetween) {
  EXPECT_EQ((ByteRange{3, 10}.size()), 7u);
  EXPECT_EQ((ByteRange{0, all}.size()), all);
  EXPECT_TRUE((ByteRange{4, 4}.empty()));
  EXPECT_FALSE((ByteRange{4, 5}.empty()));
  EXPECT_TRUE(ByteRange{}.empty());
}

}  // namespace
}  // namespace onnxfs
