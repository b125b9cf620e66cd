// Where bytes come from: a mapped file, memory, a decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace onnxfs {

// Bytes that may be handed to the kernel, and what keeps them alive (null when the source itself does).
struct Borrowed {
  const std::byte* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

// Read-only bytes of a known, unchanging size with random access. Any number of threads may use one at once.
//
// There are two ways to the bytes, because a file may be truncated under its map:
//  * `read` copies, and reports what went wrong. Code that looks at bytes uses it, always.
//  * `borrow` points, for the kernel to copy from: a fault becomes EIO for the reader. Nobody else dereferences it.
//
// Callers stay within [0, size()); a source is free to crash otherwise. Both throw Error: ESTALE when what stands
// behind the source is no longer what was opened, EIO when it cannot be read.
class Source {
 public:
  virtual ~Source() = default;

  virtual uint64_t size() const noexcept = 0;

  virtual void read(uint64_t offset, std::span<std::byte> out) const = 0;

  // Throws ESTALE if a read would, without reading.
  virtual void require_current() const {}

  // By default a copy made by `read`; a source that has its bytes in the address space points to them instead.
  virtual Borrowed borrow(uint64_t offset, size_t length) const;

 protected:
  Source() = default;
  Source(const Source&) = default;
  Source& operator=(const Source&) = default;
};

using SourcePtr = std::shared_ptr<const Source>;

// Bytes in memory.
class MemorySource final : public Source {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}

  uint64_t size() const noexcept override { return bytes_.size(); }
  void read(uint64_t offset, std::span<std::byte> out) const override;
  Borrowed borrow(uint64_t offset, size_t length) const override;

 private:
  std::string bytes_;
};

}  // namespace onnxfs
