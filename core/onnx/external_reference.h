#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/onnx/tensor_fields.h"

namespace onnxfs {

// What the external_data entries of a tensor say.
struct ExternalReference {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  std::string checksum;              // SHA-1 of the whole data file, unchecked; "" when not given
  std::vector<std::string> unknown;  // keys that no version of the format defines
};

// Throws Error(EINVAL) for entries that no two readers would understand alike: a key that counts given twice, an
// empty value, a number that is not plain decimal digits or does not fit in 63 bits, no location.
ExternalReference parse_external(wire::Window& window, const std::vector<TensorFields::Entry>& entries);

}  // namespace onnxfs
