#include "core/views/float_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace onnxfs {

namespace {

template <size_t width, typename Float>
char* write(char* out, Float value) {
  if (!std::isfinite(value)) {
    const char* word = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    const size_t length = std::strlen(word);
    std::memcpy(out, word, length);
    return out + length;
  }
  // One integer of more digits than that is written in full, where its scientific form is no shorter.
  constexpr size_t longest = width + 8;
  char* end = std::to_chars(out, out + longest, value).ptr;
  for (const char* c = out; c != end; ++c) {
    if (*c == '.' || *c == 'e') return end;
  }
  // Without its sign, no number takes more than one character less.
  if (end + 2 > out + width - (std::signbit(value) ? 0 : 1))
    return std::to_chars(out, out + longest, value, std::chars_format::scientific).ptr;
  std::memcpy(end, ".0", 2);
  return end + 2;
}

}  // namespace

char* write_float(char* out, float value) { return write<float_width>(out, value); }
char* write_float(char* out, double value) { return write<double_width>(out, value); }

}  // namespace onnxfs
