#include "core/views/element_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "core/bytes/error.h"
#include "core/views/float_text.h"
#include "core/views/small_float.h"

namespace onnxfs {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are little-endian, in payloads and in memory");

constexpr size_t complex_extra = 3;  // parentheses and the unit; the width of a part has room for its sign

// Puts what was written to `text` at the end of a line.
void write_line(char* line, size_t width, const char* text, const char* end) {
  const auto length = static_cast<size_t>(end - text);
  std::memset(line, ' ', width - length);
  std::memcpy(line + (width - length), text, length);
  line[width] = '\n';
}

template <typename Number>
char* write_number(char* out, const std::byte* element) {
  Number number;
  std::memcpy(&number, element, sizeof number);
  if constexpr (std::is_floating_point_v<Number>) return write_float(out, number);
  else return std::to_chars(out, out + widest_line, number).ptr;
}

template <typename Part>
char* write_complex(char* out, const std::byte* element) {
  *out++ = '(';
  out = write_number<Part>(out, element);
  char sign_and_part[widest_line] = {'+'};
  char* part = sign_and_part + 1;
  const char* end = write_number<Part>(part, element + sizeof(Part));
  if (*part != '-') --part;
  const auto length = static_cast<size_t>(end - part);
  std::memcpy(out, part, length);
  std::memcpy(out + length, "j)", 2);
  return out + length + 2;
}

template <size_t size, size_t width, char* (*write_one)(char*, const std::byte*)>
void write_each(const std::byte* elements, size_t count, char* out) {
  char text[widest_line];
  for (size_t i = 0; i < count; ++i) {
    write_line(out + i * (width + 1), width, text, write_one(text, elements + i * size));
  }
}

// `Code` is an unsigned integer as wide as an element; `lines` has those of all its values, one after another.
template <typename Code, size_t width, const std::string& (*lines)()>
void look_up_each(const std::byte* elements, size_t count, char* out) {
  const char* all = lines().data();
  for (size_t i = 0; i < count; ++i) {
    Code code;
    std::memcpy(&code, elements + i * sizeof code, sizeof code);
    std::memcpy(out + i * (width + 1), all + code * (width + 1), width + 1);
  }
}

template <typename WriteCode>
std::string make_lines(size_t codes, size_t width, WriteCode write_code) {
  std::string lines(codes * (width + 1), '\0');
  char text[widest_line];
  for (size_t code = 0; code < codes; ++code) {
    write_line(&lines[code * (width + 1)], width, text, write_code(text, static_cast<uint32_t>(code)));
  }
  return lines;
}

// Of numbers of a byte, or of less in a byte.
template <typename Byte, size_t width>
const std::string& integer_lines() {
  static const std::string lines = make_lines(256, width, [](char* text, uint32_t code) {
    const int number{static_cast<Byte>(code)};
    char* end = std::to_chars(text, text + widest_line, number).ptr;
    return end <= text + width ? end : text;  // no number of a type of less than a byte
  });
  return lines;
}

const std::string& bool_lines() {
  static const std::string lines = make_lines(256, 5, [](char* text, uint32_t code) {
    const std::string_view word = code != 0 ? "True" : "False";
    std::memcpy(text, word.data(), word.size());
    return text + word.size();
  });
  return lines;
}

template <int32_t data_type, size_t width>
const std::string& small_float_lines() {
  const SmallFloat& type = *find_small_float(*find_data_type(data_type));
  static const std::string lines =
      make_lines(type.bits() > 8 ? size_t{1} << 16 : 256, width, [&type](char* text, uint32_t code) {
        const double decimal = shortest_decimal(type, code);
        return type.has_sign ? write_float(text, decimal) : write_float(text, static_cast<float>(decimal));
      });
  return lines;
}

template <typename Number, size_t width>
constexpr ElementFormat number() {
  return {width, sizeof(Number), write_each<sizeof(Number), width, write_number<Number>>};
}

template <typename Part, size_t part_width>
constexpr ElementFormat complex() {
  constexpr size_t width = 2 * part_width + complex_extra;
  return {width, 2 * sizeof(Part), write_each<2 * sizeof(Part), width, write_complex<Part>>};
}

template <typename Byte, size_t width>
constexpr ElementFormat integer_byte() {
  return {width, 1, look_up_each<uint8_t, width, integer_lines<Byte, width>>};
}

template <typename Code, int32_t data_type, size_t width>
constexpr ElementFormat small_float() {
  return {width, sizeof(Code), look_up_each<Code, width, small_float_lines<data_type, width>>};
}

// Small floats are as wide as the widest of their numbers, and have the number of their type.
struct NamedFormat {
  std::string_view onnx_name;
  ElementFormat format;
};

constexpr std::array<NamedFormat, 27> formats{{
    {"FLOAT", number<float, float_width>()},
    {"UINT8", integer_byte<uint8_t, 3>()},
    {"INT8", integer_byte<int8_t, 4>()},
    {"UINT16", number<uint16_t, 5>()},
    {"INT16", number<int16_t, 6>()},
    {"INT32", number<int32_t, 11>()},
    {"INT64", number<int64_t, 20>()},
    {"BOOL", {5, 1, look_up_each<uint8_t, 5, bool_lines>}},
    {"FLOAT16", small_float<uint16_t, 10, 11>()},
    {"DOUBLE", number<double, double_width>()},
    {"UINT32", number<uint32_t, 10>()},
    {"UINT64", number<uint64_t, 20>()},
    {"COMPLEX64", complex<float, float_width>()},
    {"COMPLEX128", complex<double, double_width>()},
    {"BFLOAT16", small_float<uint16_t, 16, 12>()},
    {"FLOAT8E4M3FN", small_float<uint8_t, 17, 6>()},
    {"FLOAT8E4M3FNUZ", small_float<uint8_t, 18, 6>()},
    {"FLOAT8E5M2", small_float<uint8_t, 19, 8>()},
    {"FLOAT8E5M2FNUZ", small_float<uint8_t, 20, 8>()},
    {"UINT4", integer_byte<uint8_t, 2>()},
    {"INT4", integer_byte<int8_t, 2>()},
    {"FLOAT4E2M1", small_float<uint8_t, 23, 4>()},
    {"FLOAT8E8M0", small_float<uint8_t, 24, 14>()},
    {"UINT2", integer_byte<uint8_t, 1>()},
    {"INT2", integer_byte<int8_t, 2>()},
    {"FLOAT6E2M3", small_float<uint8_t, 27, 4>()},
    {"FLOAT6E3M2", small_float<uint8_t, 28, 5>()},
}};

}  // namespace

ElementFormat element_format(const DataType* type) {
  if (type == nullptr) return integer_byte<uint8_t, 3>();
  const auto found = std::ranges::find(formats, type->onnx_name, &NamedFormat::onnx_name);
  if (found == formats.end()) fail(EINVAL, "elements of {} are no lines of one width", type->onnx_name);
  return found->format;
}

}  // namespace onnxfs
