#include "core/views/json_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxfs {

namespace {

bool needs_no_escape(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

}  // namespace

std::string json_inline(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
