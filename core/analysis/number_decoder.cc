#include "core/analysis/number_decoder.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/analysis/vectors.h"
#include "core/views/small_float.h"
#include "core/views/sub_byte.h"

namespace onnxfs {

namespace {

template <typename T>
ONNXFS_INLINE T number_at(const std::byte* bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof value, sizeof value);
  return value;
}

// One function a type, since a template cannot be compiled twice.
#define ONNXFS_CONVERT(name, T)                                                                                      \
  ONNXFS_VECTORISED void name(const NumberDecoder&, const std::byte* bytes, size_t count, double* values, double*) { \
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<double>(number_at<T>(bytes, i));                      \
  }
ONNXFS_CONVERT(from_float, float)
ONNXFS_CONVERT(from_double, double)
ONNXFS_CONVERT(from_int8, int8_t)
ONNXFS_CONVERT(from_int16, int16_t)
ONNXFS_CONVERT(from_int32, int32_t)
ONNXFS_CONVERT(from_uint8, uint8_t)
ONNXFS_CONVERT(from_uint16, uint16_t)
ONNXFS_CONVERT(from_uint32, uint32_t)
#undef ONNXFS_CONVERT

// The lower half is taken with a sign, so that numbers of up to 31 bits are all in `low`.
#define ONNXFS_CONVERT_LONG(name, High)                                                                   \
  ONNXFS_VECTORISED void name(const NumberDecoder&, const std::byte* bytes, size_t count, double* values, \
                              double* low) {                                                              \
    for (size_t i = 0; i < count; ++i) {                                                                  \
      const double half = static_cast<double>(number_at<int32_t>(bytes, 2 * i));                          \
      low[i] = half;                                                                                      \
      values[i] = (static_cast<double>(number_at<High>(bytes, 2 * i + 1)) + (half < 0 ? 1 : 0)) * 0x1p32; \
    }                                                                                                     \
  }
ONNXFS_CONVERT_LONG(from_int64, int32_t)
ONNXFS_CONVERT_LONG(from_uint64, uint32_t)
#undef ONNXFS_CONVERT_LONG

ONNXFS_VECTORISED void from_bool(const NumberDecoder&, const std::byte* bytes, size_t count, double* values, double*) {
  for (size_t i = 0; i < count; ++i) values[i] = bytes[i] == std::byte{0} ? 0.0 : 1.0;
}

// The upper half of a float.
ONNXFS_VECTORISED void from_bfloat16(const NumberDecoder&, const std::byte* bytes, size_t count, double* values,
                                     double*) {
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<double>(std::bit_cast<float>(uint32_t{number_at<uint16_t>(bytes, i)} << 16));
  }
}

// IEEE 754 binary16 by way of binary32, whose exponent is biased by 112 more and whose fraction is 13 bits longer.
ONNXFS_VECTORISED void from_float16(const NumberDecoder&, const std::byte* bytes, size_t count, double* values,
                                    double*) {
  constexpr uint32_t rebias = 112u << 23;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t code = number_at<uint16_t>(bytes, i);
    const uint32_t magnitude = code & 0x7fff;
    const uint32_t normal = (magnitude << 13) + (magnitude < 0x7c00 ? rebias : 2 * rebias);
    const auto subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
    const uint32_t bits = magnitude < 0x400 ? subnormal : normal;
    values[i] = static_cast<double>(std::bit_cast<float>(bits | (code & 0x8000) << 16));
  }
}

}  // namespace

struct Decoders {
  template <unsigned per_byte>
  static void look_up(const NumberDecoder& self, const std::byte* bytes, size_t count, double* values, double*) {
    const double* table = self.table_.get();
    size_t i = 0;
    for (; i + per_byte <= count; i += per_byte, ++bytes) {
      std::memcpy(values + i, table + per_byte * std::to_integer<size_t>(*bytes), per_byte * sizeof *values);
    }
    for (size_t rest = 0; i < count; ++i, ++rest) values[i] = table[per_byte * std::to_integer<size_t>(*bytes) + rest];
  }

  // Four codes in three bytes; the table has one number a code.
  static void look_up_six_bits(const NumberDecoder& self, const std::byte* bytes, size_t count, double* values,
                               double*) {
    const double* table = self.table_.get();
    for (size_t i = 0; i < count; ++i) {
      const size_t bit = 6 * i;
      unsigned two = std::to_integer<unsigned>(bytes[bit / 8]);
      if (bit % 8 > 2) two |= std::to_integer<unsigned>(bytes[bit / 8 + 1]) << 8;
      values[i] = table[two >> bit % 8 & 63];
    }
  }

  static double number_of(const DataType& type, uint32_t code) {
    if (const SmallFloat* small = find_small_float(type)) return small->value(code);
    const uint32_t sign = is_signed_sub_byte(type) ? 1u << (type.bits - 1) : 0;
    return static_cast<double>(static_cast<int32_t>((code ^ sign) - sign));
  }

  static std::shared_ptr<const double[]> table_of(const DataType& type) {
    const unsigned per_byte = type.bits == 6 ? 1 : 8 / type.bits;
    const uint32_t mask = (1u << type.bits) - 1;
    auto table = std::make_shared<double[]>(256 * per_byte);
    for (unsigned i = 0; i < 256 * per_byte; ++i) {
      table[i] = number_of(type, i / per_byte >> (type.bits * (i % per_byte)) & mask);
    }
    return table;
  }

  static NumberDecoder::Decode find(const DataType& type) {
    const std::string_view name = type.onnx_name;
    if (name == "FLOAT" || name == "COMPLEX64") return from_float;
    if (name == "DOUBLE" || name == "COMPLEX128") return from_double;
    if (name == "FLOAT16") return from_float16;
    if (name == "BFLOAT16") return from_bfloat16;
    if (name == "INT8") return from_int8;
    if (name == "INT16") return from_int16;
    if (name == "INT32") return from_int32;
    if (name == "INT64") return from_int64;
    if (name == "UINT8") return from_uint8;
    if (name == "UINT16") return from_uint16;
    if (name == "UINT32") return from_uint32;
    if (name == "UINT64") return from_uint64;
    if (name == "BOOL") return from_bool;
    switch (type.bits) {
      case 2: return look_up<4>;
      case 4: return look_up<2>;
      case 6: return look_up_six_bits;
      default: return look_up<1>;
    }
  }
};

NumberDecoder::NumberDecoder(const DataType* type) : decode_(from_uint8) {
  is_known_ = type != nullptr;
  if (!is_known_) return;
  is_complex_ = type->onnx_name.starts_with("COMPLEX");
  bits_ = is_complex_ ? type->bits / 2 : type->bits;
  is_signed_ = type->name.starts_with("int");
  is_integer_ = is_signed_ || type->name.starts_with("uint") || type->number == bool_type;
  decode_ = Decoders::find(*type);
  const bool is_plain_integer = is_integer_ && bits_ >= 8;
  const SmallFloat* small = find_small_float(*type);
  if (small != nullptr && small->has_sign) smallest_normal_ = std::ldexp(1.0, 1 - small->bias);
  if (small == nullptr && !is_integer_) {
    smallest_normal_ = bits_ == 32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  }
  if (bits_ <= 8 && !is_plain_integer) table_ = Decoders::table_of(*type);
}

uint64_t NumberDecoder::numbers(uint64_t elements, uint64_t payload) const noexcept {
  if (!is_known_) return payload;
  return is_complex_ ? 2 * elements : elements;
}

}  // namespace onnxfs
