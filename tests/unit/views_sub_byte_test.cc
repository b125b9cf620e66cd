#include "core/views/sub_byte.h"

#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using testing::expect_every_read_alike;
using testing::expect_reads_alike;
using testing::guarded;
using testing::random_payload;

std::vector<const DataType*> sub_byte_types() {
  std::vector<const DataType*> types;
  for (const DataType& type : all_data_types()) {
    if (is_sub_byte(type)) types.push_back(&type);
  }
  return types;
}

// Bit by bit, as the format's description has it.
std::string unpacked_slowly(const DataType& type, const std::string& packed, uint64_t elements) {
  std::string result;
  for (uint64_t i = 0; i < elements; ++i) {
    int value = 0;
    for (unsigned bit = 0; bit < type.bits; ++bit) {
      const uint64_t at = i * type.bits + bit;
      value |= (static_cast<uint8_t>(packed[at / 8]) >> at % 8 & 1) << bit;
    }
    if (type.name.starts_with("int") && value >> (type.bits - 1) != 0) value -= 1 << type.bits;
    result += static_cast<char>(value);
  }
  return result;
}

TEST(SubByte, TypesAreThoseOfLessThanAByte) {
  EXPECT_EQ(sub_byte_types().size(), 7u);
  EXPECT_FALSE(is_sub_byte(*find_data_type(string_type)));
}

TEST(SubByte, ElementsAreAByteEach) {
  EXPECT_EQ(testing::read_all(*unpacked(Rope::of("\x21\xf8"), *find_data_type(21), 4)), "\x01\x02\x08\x0f");
  EXPECT_EQ(testing::read_all(*unpacked(Rope::of("\x21\xf8"), *find_data_type(22), 4)), "\x01\x02\xf8\xff");
  EXPECT_EQ(testing::read_all(*unpacked(Rope::of("\xe4"), *find_data_type(26), 4)), std::string("\0\1\xfe\xff", 4));
}

TEST(SubByte, EveryRangeOfAFewElementsIsRightBothWays) {
  for (const DataType* type : sub_byte_types()) {
    for (uint64_t elements = 0; elements <= 17; ++elements) {
      SCOPED_TRACE(std::string(type->name) + " " + std::to_string(elements));
      const std::string bytes = random_payload(*type, elements, elements + 1);
      const std::string one_each = unpacked_slowly(*type, bytes, elements);
      expect_every_read_alike(Rope::of(unpacked(Rope::of(guarded(bytes)), *type, elements)), one_each);
      expect_every_read_alike(Rope::of(packed(Rope::of(guarded(one_each)), *type)), bytes);
    }
  }
}

TEST(SubByte, ManyElementsAreRightWhereverTheyAreRead) {
  for (const DataType* type : sub_byte_types()) {
    SCOPED_TRACE(type->name);
    constexpr uint64_t elements = 100'003;
    const std::string bytes = random_payload(*type, elements, 3);
    const std::string one_each = unpacked_slowly(*type, bytes, elements);
    expect_reads_alike(Rope::of(unpacked(Rope::of(guarded(bytes)), *type, elements)), one_each);
    expect_reads_alike(Rope::of(packed(Rope::of(guarded(one_each)), *type)), bytes);
  }
}

TEST(SubByte, AnElementOutOfItsTypesRangeIsRefused) {
  const auto require = [](int32_t type, std::string bytes) {
    require_range(Rope::of(std::move(bytes)), *find_data_type(type));
  };
  EXPECT_ERROR(require(21, "\x0f\x10"), EINVAL, "element 1 is 16; uint4 holds 0 to 15");
  EXPECT_ERROR(require(22, "\x08"), EINVAL, "element 0 is 8; int4 holds -8 to 7");
  EXPECT_ERROR(require(22, "\xf7"), EINVAL, "element 0 is -9");
  EXPECT_ERROR(require(25, "\x04"), EINVAL, "uint2 holds 0 to 3");
  EXPECT_ERROR(require(26, "\x02"), EINVAL, "int2 holds -2 to 1");
  EXPECT_ERROR(require(23, "\x10"), EINVAL, "float4_e2m1fn holds 0 to 15");
  EXPECT_ERROR(require(27, "\x40"), EINVAL, "float6_e2m3fn holds 0 to 63");
  EXPECT_ERROR(require(28, std::string(20'000, '\x3f') + "\xff"), EINVAL, "element 20000 is 255");
  EXPECT_NO_THROW(require(22, "\xf8\x07"));
  EXPECT_NO_THROW(require(27, "\x3f"));
}

TEST(SubByte, IsStaleWhenItsBytesAre) {
  const DataType& type = *find_data_type(22);
  const SourcePtr failing = std::make_shared<testing::FailingSource>(10, ESTALE);
  EXPECT_ERROR(unpacked(Rope::of(failing), type, 20)->require_current(), ESTALE, "on fire");
  EXPECT_ERROR(packed(Rope::of(failing), type)->require_current(), ESTALE, "on fire");
  EXPECT_ERROR(require_range(Rope::of(failing), type), ESTALE, "on fire");
}

}  // namespace
}  // namespace onnxfs
