#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/onnx/data_type.h"

namespace onnxfs {

// The elements of a payload as numbers, exactly:
//  * floats of every width are the double that they are
//  * integers likewise; those of 64 bits are the sum of two doubles: `values`, a multiple of 2^32, and `low`, which is
//    in [-2^31, 2^31)
//  * BOOL is 0, or 1 for any other byte
//  * a complex number is two numbers, its parts
//  * of an unknown type, the bytes of the payload
// Strings are no numbers. A plain value; any number of threads may use one.
class NumberDecoder {
 public:
  // Numbers that are decoded at once. They begin with a whole byte, whatever their width.
  static constexpr size_t block = 2048;

  // Null for an unknown type; not STRING.
  explicit NumberDecoder(const DataType* type);

  unsigned bits() const noexcept { return bits_; }  // of a number
  bool is_integer() const noexcept { return is_integer_; }
  bool is_signed() const noexcept { return is_signed_; }  // of an integer
  bool has_low() const noexcept { return is_integer_ && bits_ == 64; }
  bool is_single() const noexcept { return !is_integer_ && bits_ == 32; }  // IEEE 754 binary32, which C++ has too
  bool is_wide() const noexcept { return !is_integer_ && bits_ == 64; }  // of all doubles: squares may be none

  // Smaller numbers that are not zero are subnormal; 0 for a type that has none.
  double smallest_normal() const noexcept { return smallest_normal_; }

  // How many numbers are so many elements; `payload` bytes, for an unknown type.
  uint64_t numbers(uint64_t elements, uint64_t payload) const noexcept;

  // The bytes that so many numbers take: those of a whole payload, or of blocks.
  uint64_t bytes_of(uint64_t numbers) const noexcept { return numbers / 8 * bits_ + (numbers % 8 * bits_ + 7) / 8; }

  // At most `block` numbers. `low` is written if has_low(), and may be null else.
  void decode(const std::byte* bytes, size_t count, double* values, double* low) const {
    decode_(*this, bytes, count, values, low);
  }

 private:
  using Decode = void (*)(const NumberDecoder&, const std::byte*, size_t, double*, double*);
  friend struct Decoders;

  unsigned bits_ = 8;
  bool is_known_ = true;
  bool is_complex_ = false;
  bool is_integer_ = true;
  bool is_signed_ = false;
  double smallest_normal_ = 0;
  Decode decode_;
  std::shared_ptr<const double[]> table_;  // of 256 codes, or of 256 bytes and the codes in each
};

}  // namespace onnxfs
