#pragma once

#include <cstddef>
#include <string_view>

namespace onnxfs {

// The length of the UTF-8 character that `text` begins with, 1 to 4; 0 when it begins with no character, or is empty.
// Strict (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace onnxfs
