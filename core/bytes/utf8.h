#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace onnxfs {

// The length of the UTF-8 character that `text` begins with, 1 to 4; 0 when it begins with no character, or is empty.
// Strict (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

// The number of one UTF-8 character.
uint32_t code_point(std::string_view character);

// Whether one UTF-8 character acts on the text around it, so that it is never shown as it is: a control character (C0,
// DEL, C1), a line or paragraph separator (U+2028, U+2029), or what turns the direction of text (Unicode's
// Bidi_Control, UAX 9: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
bool is_control(std::string_view character);

// The text for one line on a terminal or in a log: control characters and bytes that are not UTF-8 become "%XX".
std::string printable(std::string_view text);

}  // namespace onnxfs
