#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace onnxfs {

// The length of the UTF-8 character that `text` begins with, 1 to 4; 0 when it begins with no character, or is empty.
// Strict (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

// Whether one UTF-8 character is a control character: C0, DEL or C1.
bool is_control(std::string_view character);

// The text for one line on a terminal or in a log: control characters and bytes that are not UTF-8 become "%XX".
std::string printable(std::string_view text);

}  // namespace onnxfs
