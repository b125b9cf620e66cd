#include "core/sidecar/data_file_name.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/data_files.h"

namespace onnxfs {

namespace {

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
}

std::string normal(const std::string& location) {
  try {
    return normalise_location(location);
  } catch (const Error& error) {
    fail(EINVAL, "\"{}\" cannot be a data file's name: {}", location, error.what());
  }
}

}  // namespace

std::string plain_file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool good = is_plain(c) && !(c == '.' && (name.empty() || name.back() == '.'));
    name += good ? c : '_';
  }
  if (name.empty()) name += '_';
  if (name.back() == '.') name.back() = '_';
  return name;
}

std::string data_file_name(const std::string& model_name, unsigned n) {
  constexpr size_t longest = 200;
  std::string name = plain_file_name(std::string_view(model_name).substr(0, longest));
  if (name != model_name) name += fmt::format("-{:016x}", XXH3_64bits(model_name.data(), model_name.size()));
  return n == 0 ? name + ".data" : fmt::format("{}-{}.data", name, n);
}

std::string require_portable_location(const std::string& location) {
  std::string name = normal(location);
  const auto refuse = [&](std::string_view reason) {
    fail(EINVAL, "\"{}\" cannot be a data file's name: {}", location, reason);
  };
  if (name.find("..") != name.npos) refuse("some readers refuse all with \"..\" in them");
  if (name.front() == '#' || name.front() == '*') refuse("some readers take such a name for a place in memory");
  if (std::ranges::any_of(name, [](char c) { return c <= ' ' || c >= '\x7f' || c == '\\'; })) {
    refuse("not all readers understand spaces, backslashes, control characters, and letters that are not ASCII");
  }
  return name;
}

}  // namespace onnxfs
