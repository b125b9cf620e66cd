#pragma once

#include <cstddef>

namespace onnxfs {

// How many characters the numbers below take at most, a sign among them.
constexpr size_t float_width = 15;   // -1.02926374e-22
constexpr size_t double_width = 24;  // -2.2250738585072014e-308

// Writes a number in the fewest digits that read back to it in its own type, and returns the end of them. It is in
// positional or scientific form, whichever is shorter, as std::to_chars has it; one that would look like an integer has
// ".0" behind it ("1.0", "-0.0", "16777216.0"), unless that makes it longer than all other numbers: then it is in
// scientific form. Infinity is "inf" or "-inf", and every NaN is "nan", as numpy prints them. Any thread may call it.
char* write_float(char* out, float value);
char* write_float(char* out, double value);

}  // namespace onnxfs
