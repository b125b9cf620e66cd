#include "core/bytes/utf8.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace onnxfs {
namespace {

std::string encoded(uint32_t code_point) {
  const auto tail = [code_point](int shift) { return static_cast<char>(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xc0 | code_point >> 6), tail(0)};
  if (code_point < 0x10000) return {static_cast<char>(0xe0 | code_point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code_point >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCharacterHasItsLength) {
  for (uint32_t code_point = 0; code_point <= 0x10ffff; ++code_point) {
    const bool is_surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
    const std::string text = encoded(code_point);
    ASSERT_EQ(utf8_length(text), is_surrogate ? 0 : text.size()) << code_point;
    ASSERT_EQ(utf8_length(text + "\x80\xff"), is_surrogate ? 0 : text.size()) << code_point;
    ASSERT_EQ(utf8_length(std::string_view(text).substr(0, text.size() - 1)), 0u) << code_point;
  }
}

// Whatever four bytes begin with: a character exactly if writing it gives the same bytes.
TEST(Utf8, NothingElseIsACharacter) {
  size_t characters = 0;
  for (uint32_t first = 0; first < 256; ++first) {
    for (uint32_t second = 0; second < 256; ++second) {
      for (const uint32_t third : {0x00u, 0x7fu, 0x80u, 0xbfu, 0xc0u, 0xffu}) {
        for (const uint32_t fourth : {0x00u, 0x7fu, 0x80u, 0xbfu, 0xc0u, 0xffu}) {
          const std::string text{static_cast<char>(first), static_cast<char>(second), static_cast<char>(third),
                                 static_cast<char>(fourth)};
          const size_t length = utf8_length(text);
          if (length == 0) continue;
          uint32_t code_point = length == 1 ? first : first & (0x7fu >> length);
          for (size_t i = 1; i < length; ++i) code_point = code_point << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
          ASSERT_EQ(encoded(code_point), text.substr(0, length));
          ASSERT_FALSE(code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff));
          ++characters;
        }
      }
    }
  }
  EXPECT_GT(characters, 100'000u);
}

TEST(Utf8, TextIsAllCharacters) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string_view("nul\0in it", 9)));
  EXPECT_TRUE(is_utf8("é中\U0001F600"));
  EXPECT_FALSE(is_utf8("\xff"));
  EXPECT_FALSE(is_utf8("abc\xc3"));
  EXPECT_FALSE(is_utf8("\xc3 abc"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));  // a surrogate
  EXPECT_FALSE(is_utf8("\xc0\x80"));      // an overlong NUL
  EXPECT_EQ(utf8_length(""), 0u);
}

TEST(Utf8, EveryCharacterHasItsNumber) {
  for (uint32_t number = 0; number <= 0x10ffff; ++number) ASSERT_EQ(code_point(encoded(number)), number);
}

TEST(Utf8, ControlsAreC0DelC1SeparatorsAndWhatTurnsText) {
  const std::set<uint32_t> others{0x61c,  0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c,
                                  0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069};
  for (uint32_t number = 0; number <= 0x10ffff; ++number) {
    const bool control = number < 0x20 || (number >= 0x7f && number < 0xa0) || others.contains(number);
    ASSERT_EQ(is_control(encoded(number)), control) << number;
  }
}

TEST(Printable, IsOneLineOfPlainText) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("plain é中\U0001F600 %41"), "plain é中\U0001F600 %41");
  EXPECT_EQ(printable("a\nb\x1b[2J\x7f"), "a%0Ab%1B[2J%7F");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "%00");
  EXPECT_EQ(printable("\u0085"), "%C2%85");
  EXPECT_EQ(printable("a\u202eb\u2028"), "a%E2%80%AEb%E2%80%A8");
  EXPECT_EQ(printable("\xff\xc3(\xe4\xb8"), "%FF%C3(%E4%B8");
}

}  // namespace
}  // namespace onnxfs
