#include "fs/byte_size.h"

#include <fmt/format.h>

namespace onnxfs {

ByteUnit byte_unit_of(double bytes) {
  for (const ByteUnit unit : {ByteUnit{1e12, "TB"}, ByteUnit{1e9, "GB"}, ByteUnit{1e6, "MB"}, ByteUnit{1e3, "kB"}}) {
    if (bytes >= unit.size) return unit;
  }
  return {1, "bytes"};
}

std::string byte_size_text(uint64_t bytes) {
  const ByteUnit unit = byte_unit_of(static_cast<double>(bytes));
  if (unit.size == 1) return fmt::format("{} B", bytes);
  return fmt::format("{:.1f} {}", static_cast<double>(bytes) / unit.size, unit.name);
}

}  // namespace onnxfs
