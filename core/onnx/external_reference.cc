#include "core/onnx/external_reference.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

// No path and no number is longer; nothing longer is read.
constexpr uint64_t longest_text = 4096;

std::string text(wire::Window& window, ByteRange range, const char* what) {
  if (range.size() > longest_text) fail(EINVAL, "a {} of its external data has {} bytes", what, range.size());
  return window.text(range);
}

uint64_t parse_number(const std::string& key, const std::string& digits) {
  uint64_t value = 0;
  bool good = !digits.empty();
  for (const char c : digits) {
    const auto digit = static_cast<uint64_t>(c - '0');
    good = good && c >= '0' && c <= '9' && value <= (uint64_t{std::numeric_limits<int64_t>::max()} - digit) / 10;
    if (!good) break;
    value = value * 10 + digit;
  }
  if (!good) fail(EINVAL, "the {} of its external data is \"{}\", which is no number of bytes", key, digits);
  return value;
}

bool is_well_known(const std::string& key) {
  // `basepath` is what python's onnx adds in memory; `prepacked_N` are ONNX Runtime's own copies of weights.
  return key == "basepath" || key.starts_with("prepacked_");
}

}  // namespace

ExternalReference parse_external(wire::Window& window, const std::vector<TensorFields::Entry>& entries) {
  ExternalReference result;
  std::vector<std::string> seen;
  for (const TensorFields::Entry& entry : entries) {
    std::string key = text(window, entry.key, "key");
    if (key != "location" && key != "offset" && key != "length" && key != "checksum") {
      if (!is_well_known(key)) result.unknown.push_back(std::move(key));
      continue;
    }
    if (std::ranges::find(seen, key) != seen.end()) fail(EINVAL, "its external data has two entries \"{}\"", key);
    seen.push_back(key);
    std::string value = text(window, entry.value, "value");
    if (value.empty()) fail(EINVAL, "the {} of its external data is empty", key);
    if (key == "location") result.location = std::move(value);
    else if (key == "offset") result.offset = parse_number(key, value);
    else if (key == "length") result.length = parse_number(key, value);
    else result.checksum = std::move(value);
  }
  if (result.location.empty()) fail(EINVAL, "its external data has no location");
  return result;
}

}  // namespace onnxfs
