#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace onnxfs {

// A JSON string in quotes, safe to show: what is_control is escaped, "\u009b". Bytes that are not UTF-8 become U+FFFD.
std::string json_quote(std::string_view text);

// A JSON value on one line; strings as above.
std::string json_inline(const nlohmann::ordered_json& value);

// Appends one UTF-8 character, or one byte that is in none, as it stands in a JSON string: the byte as "\udcXX", the
// lone surrogate that Python's surrogateescape has for it. So no two texts are written alike.
void append_json_character(std::string_view character, std::string& out);

// A string of such characters in quotes: for text whose differences count, and which no strict JSON parser reads.
std::string exact_json_quote(std::string_view text);

// A shape: "[64,3,7,7]".
std::string dims_json(std::span<const int64_t> dims);

// The text of a JSON object for people as well as programs: a member a line, each member's value on that line.
class JsonLines {
 public:
  // `json` is the value's text; the key is plain ASCII.
  JsonLines& add(std::string_view key, std::string_view json);
  JsonLines& add_text(std::string_view key, std::string_view text) { return add(key, json_quote(text)); }
  JsonLines& add_flag(std::string_view key, bool value) { return add(key, value ? "true" : "false"); }
  JsonLines& add_number(std::string_view key, uint64_t value);
  JsonLines& add_null(std::string_view key) { return add(key, "null"); }

  std::string take() &&;

 private:
  std::string text_;
};

}  // namespace onnxfs
