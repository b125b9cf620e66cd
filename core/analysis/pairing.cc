#include "core/analysis/pairing.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <unordered_map>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

// The maps as prefixes of whole paths.
std::vector<PrefixMap> whole_prefixes(std::span<const std::string> paths, std::span<const PrefixMap> maps) {
  constexpr std::string_view folder = "initializers/";
  const auto begins_one = [paths](const std::string& prefix) {
    return std::ranges::any_of(paths, [&prefix](const std::string& path) { return path.starts_with(prefix); });
  };
  std::vector<PrefixMap> whole;
  for (const PrefixMap& map : maps) {
    PrefixMap named{fmt::format("{}{}", folder, map.from), fmt::format("{}{}", folder, map.to)};
    if (begins_one(map.from)) whole.push_back(map);
    else if (begins_one(named.from)) whole.push_back(std::move(named));
    else fail(EINVAL, "--map {}={}: no tensor of the first model has a path that begins so", map.from, map.to);
  }
  return whole;
}

std::string mapped(const std::string& path, std::span<const PrefixMap> maps) {
  for (const PrefixMap& map : maps) {
    if (path.starts_with(map.from)) return fmt::format("{}{}", map.to, std::string_view(path).substr(map.from.size()));
  }
  return path;
}

}  // namespace

std::vector<Pair> pair_by_path(std::span<const std::string> a, std::span<const std::string> b,
                               std::span<const PrefixMap> maps) {
  std::unordered_map<std::string_view, uint32_t> in_b;
  for (uint32_t i = 0; i < b.size(); ++i) in_b.emplace(b[i], i);
  const std::vector<PrefixMap> prefixes = whole_prefixes(a, maps);
  std::vector<Pair> pairs;
  std::vector<uint32_t> taken_by(b.size(), static_cast<uint32_t>(a.size()));
  for (uint32_t i = 0; i < a.size(); ++i) {
    const auto found = in_b.find(prefixes.empty() ? a[i] : mapped(a[i], prefixes));
    if (found == in_b.end()) {
      pairs.push_back({i, {}});
      continue;
    }
    uint32_t& taker = taken_by[found->second];
    if (taker != a.size()) {
      fail(EINVAL, "--map: {} and {} of the first model both become {}", a[taker], a[i], b[found->second]);
    }
    taker = i;
    pairs.push_back({i, found->second});
  }
  for (uint32_t i = 0; i < b.size(); ++i) {
    if (taken_by[i] == a.size()) pairs.push_back({{}, i});
  }
  return pairs;
}

}  // namespace onnxfs
