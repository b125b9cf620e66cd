#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace onnxfs {

// A prefix that paths have in one model, and the one that stands for it in the other.
struct PrefixMap {
  std::string from, to;
};

// Indices into the lists that were paired.
struct Pair {
  std::optional<uint32_t> a, b;
};

// Pairs paths that are equal, in the order of `a`; then what only `b` has. A path of `a` that begins with a map's
// `from` counts as one that begins with `to`; a prefix that begins no path of `a` may also be one of what follows
// "initializers/", so that names will do. The first map that fits is taken.
//
// Throws Error(EINVAL) for a map that fits nothing, and where maps make two paths of `a` equal.
std::vector<Pair> pair_by_path(std::span<const std::string> a, std::span<const std::string> b,
                               std::span<const PrefixMap> maps);

}  // namespace onnxfs
