#include "tests/unit/allocations.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

struct Counts {
  bool watching = false;
  uint64_t bytes = 0;
  uint64_t largest = 0;
};

thread_local Counts counts;

}  // namespace

// All forms but the aligned ones, since one that is replaced must not free what another, not replaced, has allocated.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  if (counts.watching) {
    counts.bytes += size;
    counts.largest = std::max<uint64_t>(counts.largest, size);
  }
  return std::malloc(std::max<size_t>(size, 1));
}

void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}

void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return operator new(size, std::nothrow); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace onnxfs::testing {

AllocationWatch::AllocationWatch() noexcept { counts = {true, 0, 0}; }
AllocationWatch::~AllocationWatch() { counts.watching = false; }

uint64_t AllocationWatch::bytes() const noexcept { return counts.bytes; }
uint64_t AllocationWatch::largest() const noexcept { return counts.largest; }

}  // namespace onnxfs::testing
