// Watches operator new, to prove that no allocation follows a length that a file merely claims.
#pragma once

#include <cstdint>

namespace onnxfs::testing {

// Counts what this thread allocates while it lives. One at a time in a thread.
class AllocationWatch {
 public:
  AllocationWatch() noexcept;
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;
  ~AllocationWatch();

  uint64_t bytes() const noexcept;    // all that was asked for
  uint64_t largest() const noexcept;  // the largest of it at once
};

}  // namespace onnxfs::testing
