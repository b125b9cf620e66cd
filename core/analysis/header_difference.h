#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onnxfs {

// A member of model.json that two models have otherwise, as JSON; "" of the one that lacks it.
struct HeaderDifference {
  std::string key;
  std::string a, b;
  bool counts = true;  // false for who made the model and what is said of it, which is no difference of what it does
};

// Of two texts that model_json made: domain, versions, opsets, metadata, inputs and outputs; who made it, names and
// documentation.
std::vector<HeaderDifference> header_differences(std::string_view a, std::string_view b);

}  // namespace onnxfs
