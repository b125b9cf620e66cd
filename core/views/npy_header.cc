#include "core/views/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"

namespace onnxfs {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t alignment = 64;

// A header of a million dimensions fits; numpy itself has at most 64.
constexpr uint64_t longest_header = 16 << 20;

// The literal of a dictionary, as far as a header needs Python.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    require('{');
    while (!accept('}')) {
      const std::string_view key = string();
      require(':');
      if (key == "descr" && !descr) {
        descr = true;
        header.descr = type();
      } else if (key == "fortran_order" && !order) {
        order = true;
        header.fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        header.shape = tuple();
      } else {
        fail(EINVAL, "its header has the key \"{}\", which is unknown or there twice", printable(key));
      }
      if (!accept(',')) {
        require('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) fail(EINVAL, "its header has more behind its dictionary");
    if (!descr || !order || !shape) fail(EINVAL, "its header lacks one of descr, fortran_order and shape");
    return header;
  }

 private:
  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n\f"), text_.size())); }

  bool accept(std::string_view token) {
    skip_space();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  bool accept(char token) { return accept(std::string_view(&token, 1)); }

  void require(char token) {
    if (accept(token)) return;
    fail(EINVAL, "its header lacks a \"{}\" before \"{}\"", token, printable(text_.substr(0, 20)));
  }

  std::string_view string() {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) fail(EINVAL, "its header lacks a string");
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) fail(EINVAL, "its header has a string that does not end");
    const std::string_view value = text_.substr(1, end - 1);
    if (value.find('\\') != std::string_view::npos) fail(EINVAL, "its header has an escape in a string");
    text_.remove_prefix(end + 1);
    return value;
  }

  std::string type() {
    skip_space();
    if (text_.starts_with('[') || text_.starts_with('(')) fail(EINVAL, "its elements are structures, not numbers");
    return std::string(string());
  }

  bool boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    fail(EINVAL, "its fortran_order is neither True nor False");
  }

  std::vector<uint64_t> tuple() {
    std::vector<uint64_t> values;
    require('(');
    while (!accept(')')) {
      values.push_back(number());
      if (!accept(',')) {
        require(')');
        break;
      }
    }
    return values;
  }

  uint64_t number() {
    skip_space();
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) {
      fail(EINVAL, "its shape has \"{}\" for a number", printable(text_.substr(0, 20)));
    }
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    accept('L');  // Python 2's long integers
    return value;
  }

  std::string_view text_;
};

// A little-endian number of some bytes of the file.
uint64_t read_number(const Rope& file, uint64_t offset, size_t width) {
  std::array<std::byte, 4> bytes{};
  file.read(offset, std::span(bytes).first(width));
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

std::string npy_header(std::string_view descr, std::span<const int64_t> shape) {
  // A tuple of one has a comma in Python.
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const auto padded = [&text](size_t before) {
    return (before + text.size() + 1 + alignment - 1) / alignment * alignment - before;
  };
  size_t width = 2;
  size_t length = padded(magic.size() + 2 + width);
  if (length > 0xffff) {
    width = 4;
    length = padded(magic.size() + 2 + width);
    if (length > longest_header)
      fail(EOVERFLOW, "a shape of {} dimensions is too long for a .npy header", shape.size());
  }
  text.resize(length - 1, ' ');
  text += '\n';
  std::string header(magic);
  header += width == 2 ? '\1' : '\2';
  header += '\0';
  for (size_t i = 0; i < width; ++i) header += static_cast<char>(length >> (8 * i));
  return header + text;
}

NpyHeader read_npy_header(const Rope& file) {
  const size_t version_end = magic.size() + 2;
  if (file.size() < version_end || file.slice(0, magic.size()).text() != magic) {
    fail(EINVAL, "it is no .npy file, and does not begin with \\x93NUMPY");
  }
  const uint64_t major = read_number(file, magic.size(), 1);
  const uint64_t minor = read_number(file, magic.size() + 1, 1);
  if (major < 1 || major > 3 || minor != 0)
    fail(EINVAL, "its version of the format is {}.{}; 1.0, 2.0 and 3.0 are known", major, minor);
  const size_t width = major == 1 ? 2 : 4;
  const uint64_t begin = version_end + width;
  if (file.size() < begin) fail(EINVAL, "it ends in its header, after {} bytes", file.size());
  const uint64_t length = read_number(file, version_end, width);
  if (length > file.size() - begin) {
    fail(EINVAL, "it ends in its header, which has {} bytes where {} are left", length, file.size() - begin);
  }
  if (length > longest_header) fail(EINVAL, "its header has {} bytes, more than any shape needs", length);
  NpyHeader header = Dictionary(file.slice(begin, length).text()).parse();
  header.data_begin = begin + length;
  return header;
}

}  // namespace onnxfs
