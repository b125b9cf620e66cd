// What a TensorProto means, case by case of the format's table of what counts and what is wrong.
#include "tests/unit/settle_fixture.h"

namespace onnxfs {
namespace {

using testing::Dims;
using testing::external;
using testing::float_bytes;
using testing::Message;
using testing::Settled;
using testing::SettleTest;
using testing::tensor;
namespace type = testing::type;

const std::string twelve = float_bytes({1, 2, 3});

TEST_F(SettleTest, RawDataStandsInOnePiece) {
  const Message message = tensor("w", type::float32, {3}).bytes(9, twelve);
  const Settled got = settled(message);
  EXPECT_TRUE(got.remarks.empty());
  EXPECT_EQ(got.tensor.storage, Storage::raw_data);
  EXPECT_EQ(got.tensor.data_type, type::float32);
  EXPECT_EQ(got.tensor.elements, 3u);
  EXPECT_TRUE(got.tensor.elements_known);
  EXPECT_EQ(got.tensor.nbytes, 12u);
  EXPECT_TRUE(got.tensor.in_one_piece);
  EXPECT_EQ(got.tensor.data, (ByteRange{at + message.size() - 12, at + message.size()}));
  EXPECT_TRUE(got.tensor.entries_counted);
  EXPECT_FALSE(got.tensor.annotated);
}

TEST_F(SettleTest, RawDataOfAnotherSizeIsBroken) {
  const auto problem = [this](size_t size) {
    const Settled got = settled(tensor("w", type::float32, {3}).bytes(9, std::string(size, 'x')));
    EXPECT_EQ(got.tensor.storage, Storage::raw_data);
    EXPECT_EQ(got.tensor.nbytes, 12u);
    return got.problem();
  };
  EXPECT_EQ(problem(16), "raw_data has 16 bytes, float32[3] needs 12");
  EXPECT_EQ(problem(13), "raw_data has 13 bytes, float32[3] needs 12");
  EXPECT_EQ(problem(11), "raw_data has 11 bytes, float32[3] needs 12");
  EXPECT_EQ(problem(12), "");
}

TEST_F(SettleTest, RawDataCountsBesideTypedData) {
  const Settled got = settled(tensor("w", type::float32, {3}).bytes(4, std::string(12, '\0')).bytes(9, twelve));
  EXPECT_EQ(got.problem(), "");
  EXPECT_EQ(got.notes(), std::vector<std::string>{"both raw_data and float_data; raw_data counts"});
  EXPECT_EQ(got.tensor.storage, Storage::raw_data);
}

TEST_F(SettleTest, EmptyRawDataCountsBesideFullTypedData) {
  const Settled got = settled(tensor("w", type::float32, {3}).bytes(4, twelve).bytes(9, ""));
  EXPECT_EQ(got.problem(), "raw_data has 0 bytes, float32[3] needs 12");
}

TEST_F(SettleTest, NoElementsNeedNoData) {
  for (const int32_t data_type : {type::float32, type::int4, type::string, type::int64}) {
    const Settled got = settled(tensor("w", data_type, {3, 0, 2}));
    EXPECT_TRUE(got.remarks.empty());
    EXPECT_EQ(got.tensor.nbytes, 0u);
    EXPECT_EQ(got.tensor.elements, 0u);
    EXPECT_TRUE(got.tensor.elements_known);
  }
}

TEST_F(SettleTest, DataOfNoElementsIsRemarkedOn) {
  const Settled raw = settled(tensor("w", type::float32, {0}).bytes(9, twelve));
  EXPECT_EQ(raw.problem(), "");
  EXPECT_EQ(raw.notes(), std::vector<std::string>{"no elements, but 12 bytes of raw_data; it is empty"});
  EXPECT_EQ(raw.tensor.nbytes, 0u);
  const Settled typed = settled(tensor("w", type::float32, {0}).bytes(4, twelve));
  EXPECT_EQ(typed.notes(), std::vector<std::string>{"no elements, but entries in float_data; it is empty"});
  EXPECT_EQ(typed.tensor.nbytes, 0u);
  EXPECT_TRUE(settled(tensor("w", type::float32, {0}).bytes(9, "")).remarks.empty());
}

TEST_F(SettleTest, NoElementsOpenNoDataFile) {
  const Settled got = settled(external(tensor("w", type::float32, {0}), {{"location", "missing.bin"}}));
  EXPECT_EQ(got.problem(), "");
  EXPECT_EQ(got.tensor.storage, Storage::external);
  EXPECT_TRUE(opened_.empty());
}

TEST_F(SettleTest, NoDimensionsAreOneElement) {
  const Settled got = settled(tensor("w", type::float32, {}).bytes(9, "1234"));
  EXPECT_TRUE(got.remarks.empty());
  EXPECT_EQ(got.tensor.elements, 1u);
}

TEST_F(SettleTest, ShapesThatAreNoneAreBroken) {
  const Settled negative = settled(tensor("w", type::float32, {2, -1}).bytes(9, "12345678"));
  EXPECT_EQ(negative.problem(), "float32[2, -1] is no shape");
  EXPECT_FALSE(negative.tensor.elements_known);
  EXPECT_EQ(negative.tensor.elements, 0u);
  EXPECT_EQ(negative.tensor.nbytes, 0u);
  EXPECT_NE(settled(tensor("w", type::float32, {INT64_MAX, 2}).bytes(9, "12345678")).problem(), "");
  EXPECT_NE(settled(external(tensor("w", type::float32, {-1}), {{"location", "w.bin"}})).problem(), "");
  EXPECT_TRUE(opened_.empty());
}

TEST_F(SettleTest, ShapesLargerThanAnyFileAreBroken) {
  constexpr int64_t most = INT64_MAX;
  EXPECT_EQ(settled(tensor("w", type::float64, {most}).bytes(9, "12345678")).problem(),
            "float64[9223372036854775807] is larger than any file");
  EXPECT_EQ(settled(tensor("w", type::uint8, {most}).bytes(9, "1")).problem(),
            "raw_data has 1 bytes, uint8[9223372036854775807] needs 9223372036854775807");
}

TEST_F(SettleTest, SegmentsAreIgnored) {
  const Settled got =
      settled(tensor("w", type::float32, {3}).message(3, Message().varint(1, 1).varint(2, 2)).bytes(9, twelve));
  EXPECT_EQ(got.problem(), "");
  EXPECT_EQ(got.notes(), std::vector<std::string>{"a segment field, which readers ignore"});
  EXPECT_EQ(got.tensor.nbytes, 12u);
}

TEST_F(SettleTest, PaddingThatIsNotZeroIsRemarkedOn) {
  const std::string note = "the unused bits of its last byte are not zero";
  const auto notes = [this](int32_t data_type, int64_t elements, const std::string& bytes) {
    const Settled got = settled(tensor("w", data_type, {elements}).bytes(9, bytes));
    EXPECT_EQ(got.problem(), "");
    return got.notes();
  };
  EXPECT_EQ(notes(type::int4, 3, "\x21\x43"), std::vector<std::string>{note});
  EXPECT_EQ(notes(type::int4, 3, "\xff\x0f"), std::vector<std::string>());
  EXPECT_EQ(notes(type::int4, 4, "\xff\xff"), std::vector<std::string>());
  EXPECT_EQ(notes(type::uint2, 5, "\xff\x04"), std::vector<std::string>{note});
  EXPECT_EQ(notes(type::uint2, 5, "\xff\x03"), std::vector<std::string>());
  EXPECT_EQ(notes(type::float6, 1, "\x40"), std::vector<std::string>{note});
  EXPECT_EQ(notes(type::float6, 1, "\x3f"), std::vector<std::string>());
  EXPECT_EQ(notes(type::float6, 4, "\xff\xff\xff"), std::vector<std::string>());
  const auto external_notes = [this](const std::string& offset) {
    return settled(external(tensor("w", type::int4, {3}), {{"location", "w.bin"}, {"offset", offset}})).notes();
  };
  folder_.write("w.bin", std::string(8, '\xff') + std::string(8, '\0'));
  EXPECT_EQ(external_notes("6"), std::vector<std::string>{note});
  EXPECT_EQ(external_notes("7"), std::vector<std::string>());
}

TEST_F(SettleTest, UnknownTypesShowTheirRawData) {
  for (const int32_t data_type : {type::undefined, 29, 1000, -1}) {
    const Settled got = settled(tensor("w", data_type, {2}).bytes(9, "12345"));
    EXPECT_EQ(got.problem(), "") << data_type;
    EXPECT_EQ(got.notes().size(), 1u) << data_type;
    EXPECT_EQ(got.tensor.nbytes, 5u) << data_type;
    EXPECT_EQ(got.tensor.data_type, data_type);
    EXPECT_EQ(got.tensor.storage, Storage::raw_data);
    EXPECT_TRUE(got.tensor.in_one_piece);
  }
  EXPECT_EQ(settled(Message().varint(1, 2).bytes(9, "12345")).tensor.nbytes, 5u);
}

TEST_F(SettleTest, UnknownTypesWithoutRawDataAreBroken) {
  EXPECT_EQ(settled(tensor("w", type::undefined, {2})).problem(),
            "data type UNDEFINED and no raw_data: its bytes are unknown");
  EXPECT_EQ(settled(tensor("w", 77, {2}).packed(5, {1, 2})).problem(),
            "data type 77 and no raw_data: its bytes are unknown");
}

TEST_F(SettleTest, StringsAreMeasuredWithTheirLengths) {
  const Settled got = settled(tensor("w", type::string, {3}).bytes(6, "abc").bytes(6, "").bytes(6, "de"));
  EXPECT_TRUE(got.remarks.empty());
  EXPECT_EQ(got.tensor.nbytes, 3 * 4 + 5u);
  EXPECT_EQ(settled(tensor("w", type::string, {3}).bytes(6, "abc")).problem(),
            "string_data has 1 entries, string[3] needs 3");
}

TEST_F(SettleTest, StringsHaveNoOtherForm) {
  EXPECT_EQ(settled(tensor("w", type::string, {1}).bytes(9, "abc")).problem(),
            "a tensor of strings cannot have raw_data");
  EXPECT_EQ(settled(external(tensor("w", type::string, {1}), {{"location", "w.bin"}})).problem(),
            "a tensor of strings cannot have external data");
  EXPECT_TRUE(opened_.empty());
}

TEST_F(SettleTest, DocumentationIsAnAnnotation) {
  EXPECT_TRUE(settled(tensor("w", type::float32, {}).bytes(9, "1234").bytes(12, "doc")).tensor.annotated);
  EXPECT_FALSE(settled(tensor("w", type::float32, {}).bytes(9, "1234").bytes(12, "")).tensor.annotated);
}

TEST(Describe, WritesTypeAndShape) {
  EXPECT_EQ(describe(type::float32, Dims{64, 3, 7, 7}), "float32[64, 3, 7, 7]");
  EXPECT_EQ(describe(type::string, Dims{}), "string[]");
  EXPECT_EQ(describe(99, Dims{-1}), "unknown[-1]");
}

}  // namespace
}  // namespace onnxfs
