#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/analysis/statistics.h"

namespace onnxfs {

// What `onnxfs stats` tells of one tensor.
struct TensorStatistics {
  std::string path;
  std::string dtype;
  std::string shape;
  uint64_t elements = 0;
  uint64_t nbytes = 0;
  bool are_integers = false;
  std::optional<Statistics> numbers;  // else strings, unless it is broken
  std::optional<StringStatistics> strings;
  std::string problem;
};

// A block of lines for people, at most `width` columns wide but for long paths. `bins`: at most so many in the
// histogram; 0 for as many as there is room for.
std::string statistics_text(const TensorStatistics& tensor, size_t width, size_t bins);

// An object for programs. What is not there (the mean of no numbers, an infinite L2) is null.
nlohmann::ordered_json statistics_json(const TensorStatistics& tensor, size_t bins);

}  // namespace onnxfs
