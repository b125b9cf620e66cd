// What is odd in typed fields: entries that the type does not have, bits that belong to no element.
#include "tests/unit/settle_fixture.h"
#include "tests/unit/typed_fields.h"

namespace onnxfs {
namespace {

using testing::graph;
using testing::Message;
using testing::model;
using testing::Settled;
using testing::SettleTest;
using testing::tensor;
namespace type = testing::type;

constexpr uint64_t minus_one = ~uint64_t{0};

class EntryValuesTest : public SettleTest {
 protected:
  // The notes on a tensor with these entries, packed, and the same of unpacked ones.
  std::vector<std::string> notes(int32_t data_type, int64_t elements, const std::vector<uint64_t>& entries) {
    const auto field = static_cast<uint32_t>(find_data_type(data_type)->typed_field);
    const Settled packed = settled(tensor("w", data_type, {elements}).packed(field, entries));
    Message alone = tensor("w", data_type, {elements});
    for (const uint64_t entry : entries) alone.varint(field, entry);
    EXPECT_EQ(packed.problem(), "");
    EXPECT_EQ(packed.notes(), settled(alone).notes());
    return packed.notes();
  }

  void expect_odd(int32_t data_type, uint64_t entry, const std::string& text) {
    EXPECT_EQ(notes(data_type, 2, {0, entry}), std::vector<std::string>{text});
    EXPECT_EQ(notes(data_type, 2, {entry, 0}), std::vector<std::string>{text});
  }

  void expect_sound(int32_t data_type, const std::vector<uint64_t>& entries) {
    EXPECT_EQ(notes(data_type, static_cast<int64_t>(entries.size()), entries), std::vector<std::string>());
  }
};

TEST_F(EntryValuesTest, EntriesThatTheTypeHasAreSound) {
  expect_sound(type::int8, {0, 127, static_cast<uint64_t>(-128)});
  expect_sound(type::uint8, {0, 255});
  expect_sound(type::int16, {32767, static_cast<uint64_t>(-32768)});
  expect_sound(type::uint16, {0, 65535});
  expect_sound(type::float16, {0, 65535});
  expect_sound(type::bfloat16, {0, 65535});
  expect_sound(type::boolean, {0, 1});
  expect_sound(type::float6, {0, 63});
  expect_sound(type::int32, {0x7fffffff, 0xffffffff, minus_one});
  expect_sound(type::uint32, {0, 0xffffffff});
  expect_sound(type::uint64, {0, minus_one});
  expect_sound(type::int64, {0, minus_one});
  expect_sound(type::int8, {0xffffffff});  // -1 to who reads 32 bits
}

TEST_F(EntryValuesTest, OthersAreNamed) {
  expect_odd(type::int8, 300, "int32_data has an entry of 300, those of int8 are -128 to 127; its low 8 bits count");
  expect_odd(type::uint8, minus_one,
             "int32_data has an entry of -1, those of uint8 are 0 to 255; its low 8 bits count");
  expect_odd(type::int16, 32768,
             "int32_data has an entry of 32768, those of int16 are -32768 to 32767; its low 16 bits count");
  expect_odd(type::float16, 65536,
             "int32_data has an entry of 65536, those of float16 are 0 to 65535; its low 16 bits count");
  expect_odd(type::boolean, 2, "int32_data has an entry of 2, those of bool are 0 to 1; it counts as 1");
  expect_odd(type::float6, 64,
             "int32_data has an entry of 64, those of float6_e2m3fn are 0 to 63; its low 6 bits count");
  expect_odd(type::uint32, uint64_t{1} << 32,
             "uint64_data has an entry of 4294967296, those of uint32 are 0 to 4294967295; its low 32 bits count");
  expect_odd(type::uint32, minus_one,
             "uint64_data has an entry of 18446744073709551615, those of uint32 are 0 to 4294967295; its low 32 bits "
             "count");
}

TEST_F(EntryValuesTest, BytesOfPackedElementsMayBeSigned) {
  EXPECT_TRUE(notes(type::int4, 4, {0xff, minus_one}).empty());
  EXPECT_EQ(notes(type::int4, 4, {256, 0}).size(), 1u);
  EXPECT_EQ(notes(25, 4, {minus_one}).size(), 1u);  // UINT2
  EXPECT_EQ(notes(23, 2, {minus_one}).size(), 1u);  // FLOAT4E2M1
}

TEST_F(EntryValuesTest, BitsOfNoElementAreToBeZero) {
  const std::vector<std::string> padding{std::string(padding_is_not_zero)};
  EXPECT_TRUE(notes(type::int4, 3, {0xff, 0x0f}).empty());
  EXPECT_EQ(notes(type::int4, 3, {0xff, 0x1f}), padding);
  EXPECT_TRUE(notes(type::int4, 4, {0xff, 0xff}).empty());
  EXPECT_TRUE(notes(type::uint2, 5, {0xff, 0x03}).empty());
  EXPECT_EQ(notes(type::uint2, 5, {0xff, 0x04}), padding);
  EXPECT_EQ(notes(type::uint2, 6, {0xff, 0x10}), padding);
  EXPECT_TRUE(notes(type::float6, 3, {63, 63, 63}).empty()) << "an entry an element: no bits are left over";
  const auto both = notes(type::int4, 1, {0x110});
  ASSERT_EQ(both.size(), 1u);
  EXPECT_NE(both[0].find("an entry of 272"), std::string::npos);
  EXPECT_NE(both[0].find(padding[0]), std::string::npos);
}

TEST(LongEntryValuesTest, AreFoundWhenTheyAreRead) {
  const testing::TemporaryFolder folder;
  std::vector<uint64_t> entries(5000, 1);
  const auto int8_tensor = [&] { return tensor("w", type::int8, {5000}).packed(5, entries); };
  EXPECT_TRUE(open_model(folder, model(graph({int8_tensor()})))->payload(0).size() == 5000);
  entries[4321] = 300;
  const auto read = [&](const Message& message) {
    const auto opened = open_model(folder, model(graph({message})));
    EXPECT_FALSE(opened->has_findings());
    for (int i = 0; i < 2; ++i) EXPECT_EQ(opened->payload(0).size(), opened->catalog().tensors()[0].nbytes);
    EXPECT_EQ(opened->problem(0), "") << "it is served";
    EXPECT_EQ(opened->has_findings(), opened->found_late_at().has_value());
    return opened->findings();
  };
  const auto odd = read(int8_tensor());
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].tensor, 0u);
  EXPECT_EQ(odd[0].text, "int32_data has an entry of 300, those of int8 are -128 to 127; its low 8 bits count");
  entries[4321] = 1;
  EXPECT_TRUE(read(int8_tensor()).empty());
  EXPECT_TRUE(read(tensor("w", type::int4, {9999}).packed(5, entries)).empty());
  entries.back() = 0x21;
  const auto padding = read(tensor("w", type::int4, {9999}).packed(5, entries));
  ASSERT_EQ(padding.size(), 1u);
  EXPECT_EQ(padding[0].text, padding_is_not_zero);
}

}  // namespace
}  // namespace onnxfs
