// What a TensorProto means whose elements stand in a typed field.
#include "tests/unit/settle_fixture.h"

namespace onnxfs {
namespace {

using testing::Dims;
using testing::float_bytes;
using testing::Message;
using testing::Settled;
using testing::SettleTest;
using testing::tensor;
namespace type = testing::type;

const std::string twelve = float_bytes({1, 2, 3});

TEST_F(SettleTest, PackedFloatsStandInOnePiece) {
  const Message message = tensor("w", type::float32, {3}).bytes(4, twelve);
  const Settled got = settled(message);
  EXPECT_TRUE(got.remarks.empty());
  EXPECT_EQ(got.tensor.storage, Storage::typed);
  EXPECT_TRUE(got.tensor.in_one_piece);
  EXPECT_EQ(got.tensor.data, (ByteRange{at + message.size() - 12, at + message.size()}));
}

TEST_F(SettleTest, OtherTypedDataDoesNotStandInOnePiece) {
  const Message in_parts[] = {
      tensor("w", type::float32, {3}).bytes(4, twelve.substr(0, 4)).bytes(4, twelve.substr(4)),
      tensor("w", type::float32, {3}).bytes(4, twelve.substr(0, 8)).fixed32(4, 1),
      tensor("w", type::float32, {3}).fixed32(4, 1).fixed32(4, 1).fixed32(4, 1),
      tensor("w", type::int64, {3}).packed(7, {1, 2, 3}),
      tensor("w", type::string, {3}).bytes(6, "a").bytes(6, "b").bytes(6, "c"),
  };
  for (const Message& message : in_parts) {
    const Settled got = settled(message);
    EXPECT_TRUE(got.remarks.empty());
    EXPECT_EQ(got.tensor.storage, Storage::typed);
    EXPECT_FALSE(got.tensor.in_one_piece);
    EXPECT_TRUE(got.tensor.entries_counted);
  }
}

TEST_F(SettleTest, TypedDataOfAnotherCountIsBroken) {
  const auto problem = [this](int32_t data_type, const Dims& dims, uint32_t field, size_t entries) {
    const Settled got = settled(tensor("w", data_type, dims).packed(field, std::vector<uint64_t>(entries, 1)));
    EXPECT_EQ(got.tensor.storage, Storage::typed);
    return got.problem();
  };
  EXPECT_EQ(problem(type::int64, {2, 2}, 7, 3), "int64_data has 3 entries, int64[2, 2] needs 4");
  EXPECT_EQ(problem(type::int64, {2, 2}, 7, 5), "int64_data has 5 entries, int64[2, 2] needs 4");
  EXPECT_EQ(problem(type::int64, {2, 2}, 7, 4), "");
  EXPECT_EQ(problem(type::int4, {5}, 5, 5), "int32_data has 5 entries, int4[5] needs 3");
  EXPECT_EQ(problem(type::int4, {5}, 5, 3), "");
  EXPECT_EQ(problem(type::uint2, {5}, 5, 2), "");
  EXPECT_EQ(problem(type::uint2, {5}, 5, 3), "int32_data has 3 entries, uint2[5] needs 2");
  EXPECT_EQ(problem(type::float6, {5}, 5, 5), "");
}

TEST_F(SettleTest, ComplexNumbersTakeTwoEntries) {
  EXPECT_EQ(settled(tensor("w", type::complex64, {2}).bytes(4, std::string(16, 'c'))).problem(), "");
  EXPECT_EQ(settled(tensor("w", type::complex64, {2}).bytes(4, std::string(8, 'c'))).problem(),
            "float_data has 2 entries, complex64[2] needs 4");
  EXPECT_EQ(settled(tensor("w", type::complex128, {2}).bytes(10, std::string(32, 'c'))).problem(), "");
}

TEST_F(SettleTest, LongRunsAreCountedLater) {
  const Settled got = settled(tensor("w", type::int64, {5000}).packed(7, std::vector<uint64_t>(5000, 1)));
  EXPECT_TRUE(got.remarks.empty());
  EXPECT_FALSE(got.tensor.entries_counted);
  EXPECT_EQ(got.tensor.nbytes, 40'000u);
}

TEST_F(SettleTest, LongRunsThatCannotHaveTheCountAreBroken) {
  const std::vector<uint64_t> run(5000, 1);
  EXPECT_EQ(settled(tensor("w", type::int64, {5001}).packed(7, run)).problem(),
            "int64_data has 500 to 5000 entries, int64[5001] needs 5001");
  EXPECT_EQ(settled(tensor("w", type::int64, {499}).packed(7, run)).problem(),
            "int64_data has 500 to 5000 entries, int64[499] needs 499");
}

TEST_F(SettleTest, NoDataIsBroken) {
  const Settled got = settled(tensor("w", type::float32, {2, 3}));
  EXPECT_EQ(got.problem(), "no data; float32[2, 3] needs 24 bytes");
  EXPECT_EQ(got.tensor.storage, Storage::none);
  EXPECT_EQ(got.tensor.elements, 6u);
  EXPECT_NE(settled(tensor("w", type::string, {1})).problem(), "");
  EXPECT_NE(settled(tensor("w", type::float32, {})).problem(), "");
}

TEST_F(SettleTest, DataInAFieldOfAnotherTypeIsNone) {
  const Settled wrong = settled(tensor("w", type::uint32, {1}).varint(5, 1));
  EXPECT_EQ(wrong.problem(), "no data; uint32[1] needs 4 bytes");
  EXPECT_EQ(wrong.notes(),
            std::vector<std::string>{"entries in int32_data, which UINT32 does not use; they are ignored"});
  const Settled both = settled(tensor("w", type::uint32, {1}).varint(5, 1).varint(11, 2));
  EXPECT_EQ(both.problem(), "");
  EXPECT_EQ(both.notes().size(), 1u);
  EXPECT_EQ(both.tensor.storage, Storage::typed);
}

}  // namespace
}  // namespace onnxfs
