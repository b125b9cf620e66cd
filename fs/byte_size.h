#pragma once

#include <cstdint>
#include <string>

namespace onnxfs {

// The unit that a number of bytes is told in: decimal ones, as disks are sold and `du --si` counts.
struct ByteUnit {
  double size;
  const char* name;
};
ByteUnit byte_unit_of(double bytes);

// "96 B", "14.1 kB", "1.9 GB".
std::string byte_size_text(uint64_t bytes);

}  // namespace onnxfs
