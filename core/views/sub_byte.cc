#include "core/views/sub_byte.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

// Elements that are converted at once; eight of them fill whole bytes.
constexpr size_t block = 8192;

// Elements `first` … of what `packed` holds, one to a byte.
template <unsigned bits>
void unpack(const std::byte* packed, uint64_t first, uint8_t sign, std::span<std::byte> out) {
  constexpr unsigned mask = (1u << bits) - 1;
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t bit = (first + i) * bits;
    unsigned two = std::to_integer<unsigned>(packed[bit / 8]);
    // Only elements of six bits lie across two bytes.
    if (bits == 6 && bit % 8 > 2) two |= std::to_integer<unsigned>(packed[bit / 8 + 1]) << 8;
    const unsigned value = two >> (bit % 8) & mask;
    out[i] = static_cast<std::byte>((value ^ sign) - sign);
  }
}

// Packs elements of which the first begins `skip` bits before `out`, and the last may end after it.
template <unsigned bits>
void pack(std::span<const std::byte> elements, unsigned skip, std::span<std::byte> out) {
  constexpr unsigned mask = (1u << bits) - 1;
  std::ranges::fill(out, std::byte{0});
  for (size_t i = 0; i < elements.size(); ++i) {
    // Eight bits further on, so that nothing is negative.
    const uint64_t bit = i * bits + 8 - skip;
    const unsigned two = (std::to_integer<unsigned>(elements[i]) & mask) << (bit % 8);
    const uint64_t after = bit / 8;  // of the byte that the element begins in
    if (after != 0) out[after - 1] |= static_cast<std::byte>(two);
    if (two >> 8 != 0 && after < out.size()) out[after] |= static_cast<std::byte>(two >> 8);
  }
}

class UnpackedSource final : public Source {
 public:
  UnpackedSource(Rope packed, const DataType& type, uint64_t elements)
      : packed_(std::move(packed)),
        bits_(type.bits),
        sign_(is_signed_sub_byte(type) ? static_cast<uint8_t>(1u << (type.bits - 1)) : uint8_t{0}),
        elements_(elements) {}

  uint64_t size() const noexcept override { return elements_; }
  void require_current() const override { packed_.require_current(); }

  void read(uint64_t offset, std::span<std::byte> out) const override {
    std::array<std::byte, block> buffer;
    while (!out.empty()) {
      const auto piece = out.first(std::min<size_t>(out.size(), block - offset % 8));
      // From the byte before `offset` that an element begins with; bytes of 8 elements are counted apart, since the
      // product of all of them need not fit.
      const uint64_t begin = offset / 8 * bits_;
      const uint64_t first = offset % 8;
      packed_.read(begin, std::span(buffer).first(((first + piece.size()) * bits_ + 7) / 8));
      switch (bits_) {
        case 2: unpack<2>(buffer.data(), first, sign_, piece); break;
        case 4: unpack<4>(buffer.data(), first, sign_, piece); break;
        default: unpack<6>(buffer.data(), first, sign_, piece); break;
      }
      offset += piece.size();
      out = out.subspan(piece.size());
    }
  }

 private:
  Rope packed_;
  uint32_t bits_;
  uint8_t sign_;
  uint64_t elements_;
};

class PackedSource final : public Source {
 public:
  PackedSource(Rope unpacked, const DataType& type)
      : unpacked_(std::move(unpacked)), bits_(type.bits), size_(*payload_size(type, unpacked_.size())) {}

  uint64_t size() const noexcept override { return size_; }
  void require_current() const override { unpacked_.require_current(); }

  void read(uint64_t offset, std::span<std::byte> out) const override {
    std::array<std::byte, block> buffer;
    while (!out.empty()) {
      // Whole groups of `bits_` bytes are eight elements each.
      const uint64_t group = offset / bits_;
      const uint64_t from = offset % bits_ * 8;  // in bits, after the begin of the group
      const auto piece = out.first(std::min<size_t>(out.size(), (block / 8 - 1) * bits_));
      const uint64_t first = group * 8 + from / bits_;
      const uint64_t end = group * 8 + (from + piece.size() * 8 + bits_ - 1) / bits_;
      const auto elements = std::span(buffer).first(std::min(end, unpacked_.size()) - first);
      unpacked_.read(first, elements);
      const auto skip = static_cast<unsigned>(from % bits_);
      switch (bits_) {
        case 2: pack<2>(elements, skip, piece); break;
        case 4: pack<4>(elements, skip, piece); break;
        default: pack<6>(elements, skip, piece); break;
      }
      offset += piece.size();
      out = out.subspan(piece.size());
    }
  }

 private:
  Rope unpacked_;
  uint32_t bits_;
  uint64_t size_;
};

}  // namespace

SourcePtr unpacked(Rope packed, const DataType& type, uint64_t elements) {
  return std::make_shared<UnpackedSource>(std::move(packed), type, elements);
}

SourcePtr packed(Rope unpacked, const DataType& type) {
  return std::make_shared<PackedSource>(std::move(unpacked), type);
}

void require_range(const Rope& unpacked, const DataType& type) {
  const int lowest = is_signed_sub_byte(type) ? -(1 << (type.bits - 1)) : 0;
  const int highest = lowest + (1 << type.bits) - 1;
  std::array<std::byte, block> buffer;
  for (uint64_t at = 0; at < unpacked.size(); at += block) {
    const auto piece = std::span(buffer).first(std::min<uint64_t>(block, unpacked.size() - at));
    unpacked.read(at, piece);
    for (size_t i = 0; i < piece.size(); ++i) {
      const auto byte = std::to_integer<uint8_t>(piece[i]);
      const int value = lowest < 0 ? static_cast<int8_t>(byte) : byte;
      if (value >= lowest && value <= highest) continue;
      fail(EINVAL, "element {} is {}; {} holds {} to {}", at + i, value, type.name, lowest, highest);
    }
  }
}

}  // namespace onnxfs
