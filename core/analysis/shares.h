#pragma once

#include <algorithm>
#include <cstdint>

#include "core/analysis/number_decoder.h"
#include "core/bytes/range.h"

namespace onnxfs {

// How a tensor's numbers are shared out among threads: into ranges that follow from the tensor alone, so that results,
// put together in their order, are the same on every machine.
class Shares {
 public:
  Shares(uint64_t numbers, unsigned bits) : numbers_(numbers) {
    constexpr uint64_t least_bytes = 1 << 20, most = 64;
    const uint64_t blocks = numbers / NumberDecoder::block + (numbers % NumberDecoder::block != 0);
    const uint64_t bytes = numbers / 8 * bits;
    const uint64_t wanted = std::clamp<uint64_t>(bytes / least_bytes, 1, most);
    blocks_ = std::max<uint64_t>(1, blocks / wanted + (blocks % wanted != 0));
    count_ = blocks / blocks_ + (blocks % blocks_ != 0);
  }

  size_t count() const noexcept { return count_; }

  // In numbers; each but the last is of whole blocks.
  ByteRange operator[](size_t share) const noexcept {
    const uint64_t begin = share * blocks_ * NumberDecoder::block;
    return {begin, std::min(numbers_, begin + blocks_ * NumberDecoder::block)};
  }

 private:
  uint64_t numbers_;
  uint64_t blocks_;  // of a share
  size_t count_;
};

// How many numbers of so many bits are read at once: whole blocks, so many that a read is mostly copying (at 128 KiB, a
// fifteenth of the time of `stats` was not), few enough to stay in a cache.
constexpr uint64_t numbers_read_at_once(unsigned bits) noexcept {
  constexpr uint64_t bytes = 512 * 1024;
  return std::max<uint64_t>(1, bytes * 8 / bits / NumberDecoder::block) * NumberDecoder::block;
}

}  // namespace onnxfs
