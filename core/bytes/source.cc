#include "core/bytes/source.h"

#include <cstring>

namespace onnxfs {

Borrowed Source::borrow(uint64_t offset, size_t length) const {
  std::shared_ptr<std::byte[]> copy = std::make_unique_for_overwrite<std::byte[]>(length);
  read(offset, {copy.get(), length});
  return {copy.get(), length, copy};
}

void MemorySource::read(uint64_t offset, std::span<std::byte> out) const {
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

Borrowed MemorySource::borrow(uint64_t offset, size_t length) const {
  return {reinterpret_cast<const std::byte*>(bytes_.data()) + offset, length, nullptr};
}

}  // namespace onnxfs
