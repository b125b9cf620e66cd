#include "core/views/fortran_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "core/bytes/mutex.h"

namespace onnxfs {

namespace {

class RowMajorSource final : public Source {
 public:
  RowMajorSource(Rope column_major, size_t width, std::span<const uint64_t> dims)
      : column_major_(std::move(column_major)), width_(width), dims_(dims.begin(), dims.end()) {
    std::erase(dims_, 1);  // they make no difference to either order
    if (dims_.empty()) dims_.push_back(1);
    row_ = column_major_.size() / width / dims_.front();
  }

  uint64_t size() const noexcept override { return column_major_.size(); }
  void require_current() const override { column_major_.require_current(); }

  void read(uint64_t offset, std::span<std::byte> out) const override {
    const uint64_t block_size = block_bytes / width_ * width_;
    while (!out.empty()) {
      const BlockPtr block = this->block(offset / block_size * block_size, block_size);
      const auto from = static_cast<size_t>(offset % block_size);
      const size_t n = std::min(block->bytes.size() - from, out.size());
      std::memcpy(out.data(), block->bytes.data() + from, n);
      offset += n;
      out = out.subspan(n);
    }
  }

 private:
  // What a read permutes at least: columns of it are to be long enough to be worth a read each.
  static constexpr uint64_t block_bytes = 4 << 20;

  struct Block {
    uint64_t begin;  // in the output
    std::vector<std::byte> bytes;
  };
  using BlockPtr = std::shared_ptr<const Block>;

  BlockPtr block(uint64_t begin, uint64_t most) const {
    {
      const MutexLock lock(mutex_);
      if (last_ && last_->begin == begin) return last_;
    }
    auto block = std::make_shared<Block>();
    block->begin = begin;
    block->bytes.resize(static_cast<size_t>(std::min(most, size() - begin)));
    permute(begin / width_, block->bytes);
    const MutexLock lock(mutex_);
    last_ = block;
    return block;
  }

  // Elements `first` … Those that a row apart in the output are neighbours in the input: each such column of the output
  // is read at once. Several are written together, so that what is written is not one element here and one far away.
  void permute(uint64_t first, std::span<std::byte> out) const {
    const uint64_t count = out.size() / width_;
    const uint64_t all = std::min(count, row_);
    const uint64_t height = (count + row_ - 1) / row_;
    Columns columns;
    for (uint64_t i = 0; i < all; i += columns.count) {
      columns.count = std::min<uint64_t>(Columns::most, all - i);
      read(first, i, count, height, columns);
      for (uint64_t k = 0; k < height && i + k * row_ < count; ++k) {
        const uint64_t at = i + k * row_;
        gather(columns, k, std::min(columns.count, count - at), out.data() + at * width_);
      }
    }
  }

  // Some columns of a block.
  struct Columns {
    static constexpr size_t most = 64;

    uint64_t count = 0;
    std::array<uint64_t, most> begins;  // of each, in `bytes`, in elements
    std::vector<std::byte> bytes;
  };

  // Reads columns `i` … of the block of `count` elements from `first` on. With what lies between them where that is
  // little: one large read costs less than many small ones.
  void read(uint64_t first, uint64_t i, uint64_t count, uint64_t height, Columns& columns) const {
    constexpr uint64_t largest_span = 64 * 1024;
    uint64_t begin = column_major_.size(), end = 0;
    for (uint64_t c = 0; c < columns.count; ++c) {
      columns.begins[c] = position(first + i + c);
      begin = std::min(begin, columns.begins[c]);
      end = std::max(end, columns.begins[c] + length(i + c, count));
    }
    if ((end - begin) * width_ <= largest_span) {
      columns.bytes.resize(static_cast<size_t>((end - begin) * width_));
      column_major_.read(begin * width_, columns.bytes);
      for (uint64_t c = 0; c < columns.count; ++c) columns.begins[c] -= begin;
      return;
    }
    columns.bytes.resize(static_cast<size_t>(columns.count * height * width_));
    for (uint64_t c = 0; c < columns.count; ++c) {
      const auto column = std::span(columns.bytes).subspan(c * height * width_, length(i + c, count) * width_);
      column_major_.read(columns.begins[c] * width_, column);
      columns.begins[c] = c * height;
    }
  }

  // How many elements column `i` has in a block of `count` elements.
  uint64_t length(uint64_t i, uint64_t count) const { return (count - i + row_ - 1) / row_; }

  // Copies element `k` of the first columns.
  void gather(const Columns& columns, uint64_t k, uint64_t count, std::byte* to) const {
    switch (width_) {
      case 1: return gather<1>(columns, k, count, to);
      case 2: return gather<2>(columns, k, count, to);
      case 4: return gather<4>(columns, k, count, to);
      case 8: return gather<8>(columns, k, count, to);
      default: return gather<16>(columns, k, count, to);
    }
  }
  template <size_t width>
  static void gather(const Columns& columns, uint64_t k, uint64_t count, std::byte* to) {
    const std::byte* from = columns.bytes.data() + k * width;
    for (uint64_t c = 0; c < count; ++c) std::memcpy(to + c * width, from + columns.begins[c] * width, width);
  }

  // Where in the input the element is that is at `index` in the output.
  uint64_t position(uint64_t index) const {
    uint64_t stride = column_major_.size() / width_;
    uint64_t position = 0;
    for (size_t axis = dims_.size(); axis-- != 0;) {
      stride /= dims_[axis];
      position += index % dims_[axis] * stride;
      index /= dims_[axis];
    }
    return position;
  }

  Rope column_major_;
  size_t width_;
  std::vector<uint64_t> dims_;
  uint64_t row_ = 1;  // how many elements have the same first index

  mutable Mutex mutex_;
  mutable BlockPtr last_ ONNXFS_GUARDED_BY(mutex_);
};

}  // namespace

SourcePtr row_major(Rope column_major, size_t width, std::span<const uint64_t> dims) {
  return std::make_shared<RowMajorSource>(std::move(column_major), width, dims);
}

}  // namespace onnxfs
