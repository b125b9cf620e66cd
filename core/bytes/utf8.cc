#include "core/bytes/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace onnxfs {

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto at = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : (lead & 0xf0) == 0xe0       ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || text.size() < length) return 0;
  // The second byte's bounds exclude what the others' cannot: E0 and F0 begin overlong forms below them, ED surrogates
  // and F4 numbers past the last one above them.
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < low || at(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

uint32_t code_point(std::string_view character) {
  const auto at = [character](size_t i) { return static_cast<uint8_t>(character[i]); };
  if (character.size() == 1) return at(0);
  uint32_t number = at(0) & (0x7fu >> character.size());
  for (size_t i = 1; i < character.size(); ++i) number = number << 6 | (at(i) & 0x3fu);
  return number;
}

bool is_control(std::string_view character) {
  const uint32_t number = code_point(character);
  const auto within = [number](uint32_t first, uint32_t last) { return number >= first && number <= last; };
  if (number < 0x600) return number < 0x20 || within(0x7f, 0x9f);
  return number == 0x61c || within(0x200e, 0x200f) || within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length != 0 && !is_control(character)) {
      result += character;
      continue;
    }
    for (const char c : character) fmt::format_to(std::back_inserter(result), "%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace onnxfs
