#include "core/views/json_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/bytes/utf8.h"

namespace onnxfs {

namespace {

bool needs_no_escape(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

// Escapes what the library does not: of all control characters it takes those below U+0020 alone. In a dump without
// line breaks the others are in strings only.
std::string without_controls(std::string json) {
  if (std::ranges::all_of(json, [](char c) { return c >= 0x20 && c < 0x7f; })) return json;
  std::string result;
  for (std::string_view rest = json; !rest.empty();) {
    const std::string_view character = rest.substr(0, std::max<size_t>(utf8_length(rest), 1));
    if (is_control(character)) append_json_character(character, result);
    else result += character;
    rest.remove_prefix(character.size());
  }
  return result;
}

}  // namespace

void append_json_character(std::string_view character, std::string& out) {
  switch (character[0]) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (utf8_length(character) != character.size()) {
    fmt::format_to(std::back_inserter(out), "\\udc{:02x}", static_cast<uint8_t>(character[0]));
  } else if (is_control(character)) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point(character));
  } else {
    out += character;
  }
}

std::string exact_json_quote(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::string_view character = text.substr(0, std::max<size_t>(utf8_length(text), 1));
    append_json_character(character, result);
    text.remove_prefix(character.size());
  }
  return result + '"';
}

std::string json_inline(const nlohmann::ordered_json& value) {
  return without_controls(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string json_quote(std::string_view text) {
  if (needs_no_escape(text)) return fmt::format("\"{}\"", text);
  return json_inline(nlohmann::ordered_json(text));
}

std::string dims_json(std::span<const int64_t> dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

JsonLines& JsonLines::add(std::string_view key, std::string_view json) {
  text_ += text_.empty() ? "{\n  \"" : ",\n  \"";
  text_.append(key).append("\": ").append(json);
  return *this;
}

JsonLines& JsonLines::add_number(std::string_view key, uint64_t value) {
  return add(key, fmt::format_int(value).str());
}

std::string JsonLines::take() && {
  text_ += text_.empty() ? "{}\n" : "\n}\n";
  return std::move(text_);
}

}  // namespace onnxfs
