#include "fs/names.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <iterator>

#include "core/bytes/utf8.h"

namespace onnxfs {

namespace {

// 255 bytes are what a name in a directory may have; these leave room for "@N" and the longest suffix.
constexpr size_t longest_component = 200;
constexpr size_t cut_component = 180;

std::string component(std::string_view original) {
  if (original == ".") return "%2E";
  if (original == "..") return "%2E%2E";
  std::string text;
  size_t cut = 0;  // the longest prefix of whole characters and escapes that is short enough
  for (std::string_view rest = original; !rest.empty();) {
    const size_t length = utf8_length(rest);
    const std::string_view character = rest.substr(0, std::max<size_t>(length, 1));
    rest.remove_prefix(character.size());
    const bool escape = length == 0 || is_control(character);
    for (const char c : character) {
      if (escape) fmt::format_to(std::back_inserter(text), "%{:02X}", static_cast<unsigned char>(c));
      if (escape && text.size() <= cut_component) cut = text.size();
    }
    if (!escape) text += character;
    if (text.size() <= cut_component) cut = text.size();
  }
  if (text.size() <= longest_component) return text;
  return fmt::format("{}~{:016x}", text.substr(0, cut), XXH3_64bits(original.data(), original.size()));
}

}  // namespace

std::vector<std::string> path_components(std::string_view name) {
  std::vector<std::string> components;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (end != begin) components.push_back(component(name.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (components.empty()) components.emplace_back("unnamed");
  return components;
}

}  // namespace onnxfs
