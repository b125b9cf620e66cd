#include "core/views/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/views/element_format.h"
#include "core/views/json_lines.h"
#include "core/views/recoded_strings.h"
#include "core/views/sub_byte.h"

namespace onnxfs {

namespace {

class NumberLines final : public Source {
 public:
  // `elements` are as the format wants them.
  NumberLines(Rope elements, ElementFormat format, uint64_t size)
      : elements_(std::move(elements)), format_(format), size_(size) {}

  uint64_t size() const noexcept override { return size_; }
  void require_current() const override { elements_.require_current(); }

  void read(uint64_t offset, std::span<std::byte> out) const override {
    const size_t line = format_.width + 1;
    uint64_t index = offset / line;
    if (const auto cut = static_cast<size_t>(offset % line); cut != 0 && !out.empty()) read_cut(index++, cut, out);
    if (const size_t whole = out.size() / line; whole != 0) {
      write(index, out.first(whole * line));
      out = out.subspan(whole * line);
      index += whole;
    }
    if (!out.empty()) read_cut(index, 0, out);
  }

 private:
  // Of a line that a read does not want all of: from there on, as much as it wants.
  void read_cut(uint64_t index, size_t from, std::span<std::byte>& out) const {
    std::array<std::byte, widest_line> buffer;
    const auto line = std::span(buffer).first(format_.width + 1);
    write(index, line);
    const size_t n = std::min(line.size() - from, out.size());
    std::memcpy(out.data(), line.data() + from, n);
    out = out.subspan(n);
  }

  // Whole lines.
  void write(uint64_t first, std::span<std::byte> lines) const {
    constexpr size_t block = 8192;  // bytes of elements that are read at once
    std::array<std::byte, block> buffer;
    const size_t line = format_.width + 1;
    while (!lines.empty()) {
      const size_t count = std::min(lines.size() / line, block / format_.element_size);
      elements_.read(first * format_.element_size, std::span(buffer).first(count * format_.element_size));
      format_.write_lines(buffer.data(), count, reinterpret_cast<char*>(lines.data()));
      first += count;
      lines = lines.subspan(count * line);
    }
  }

  Rope elements_;
  ElementFormat format_;
  uint64_t size_;
};

class JsonLine final : public StringEncoding {
 public:
  void begin(uint64_t, std::string& out) const override { out += '"'; }
  void end(std::string& out) const override { out += "\"\n"; }

  size_t convert(std::string_view text, bool last, std::string& out) const override {
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto plain = static_cast<size_t>(std::ranges::find_if_not(rest, is_plain) - rest.begin());
      out += rest.substr(0, plain);
      rest.remove_prefix(plain);
      if (rest.empty()) break;
      const size_t length = utf8_length(rest);
      if (length == 0) {
        if (!last && rest.size() < longest_character) break;  // it may go on
        append_json_character(rest.substr(0, 1), out);
        rest.remove_prefix(1);
        continue;
      }
      append_json_character(rest.substr(0, length), out);
      rest.remove_prefix(length);
    }
    return text.size() - rest.size();
  }

 private:
  static constexpr size_t longest_character = 4;

  static bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }
};

}  // namespace

uint64_t text_size(const TensorContent& content) {
  const ElementFormat format = element_format(content.tensor.type());
  const auto size = checked_multiply(stored_elements(content.tensor), format.width + 1);
  if (!size || *size > std::numeric_limits<int64_t>::max()) {
    fail(EOVERFLOW, "the text of tensor {} is larger than any file", printable(content.tensor.name));
  }
  return *size;
}

Rope text(const TensorContent& content) {
  const Tensor& tensor = content.tensor;
  if (tensor.data_type == string_type) {
    static const JsonLine encoding;
    return Rope::of(std::make_shared<RecodedStrings>(content.payload, tensor.elements, encoding));
  }
  const DataType* type = tensor.type();
  Rope elements = content.payload;
  if (type != nullptr && is_sub_byte(*type)) elements = Rope::of(unpacked(std::move(elements), *type, tensor.elements));
  return Rope::of(std::make_shared<NumberLines>(std::move(elements), element_format(type), text_size(content)));
}

}  // namespace onnxfs
