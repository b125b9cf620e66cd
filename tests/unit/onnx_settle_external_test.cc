// What a TensorProto with external data means.
#include "tests/unit/errors.h"
#include "tests/unit/settle_fixture.h"

namespace onnxfs {
namespace {

using testing::external;
using testing::Message;
using testing::Settled;
using testing::tensor;
namespace type = testing::type;

using Entries = std::vector<std::pair<std::string, std::string>>;

class SettleExternalTest : public testing::SettleTest {
 protected:
  Settled of(const Entries& entries) { return settled(external(tensor("w", type::float32, {5}), entries)); }

  std::string problem(const Entries& entries) {
    const Settled got = of(entries);
    EXPECT_EQ(got.tensor.storage, Storage::external);
    EXPECT_EQ(got.tensor.nbytes, 20u);
    return got.problem();
  }
};

TEST_F(SettleExternalTest, SizeIsThatOfTheShape) {
  const Settled got = of({{"location", "w.bin"}});
  EXPECT_TRUE(got.remarks.empty());
  EXPECT_EQ(got.tensor.storage, Storage::external);
  EXPECT_EQ(got.tensor.nbytes, 20u);
  EXPECT_TRUE(got.tensor.in_one_piece);
  EXPECT_EQ(got.tensor.data, (ByteRange{0, 20}));
  ASSERT_EQ(opened_.size(), 1u);
  EXPECT_EQ(got.tensor.data_file, 0u);
  EXPECT_EQ(opened_[0].location, "w.bin");
}

TEST_F(SettleExternalTest, OffsetMayBeAnyThatLeavesRoom) {
  for (const uint64_t offset : {0, 1, 7, 79, 80}) {
    const Settled got = of({{"location", "w.bin"}, {"offset", std::to_string(offset)}, {"length", "20"}});
    EXPECT_TRUE(got.remarks.empty());
    EXPECT_EQ(got.tensor.data, (ByteRange{offset, offset + 20}));
  }
  for (const std::string offset : {"81", "100", "101", "9223372036854775807", "9223372036854775800"}) {
    EXPECT_EQ(problem({{"location", "w.bin"}, {"offset", offset}}),
              "its external data at " + offset + " + 20 bytes ends past the 100 bytes of \"w.bin\"");
  }
}

TEST_F(SettleExternalTest, LengthMustBeThatOfTheShape) {
  EXPECT_EQ(problem({{"location", "w.bin"}, {"length", "20"}}), "");
  EXPECT_EQ(problem({{"location", "w.bin"}, {"length", "0020"}}), "");
  for (const std::string length : {"0", "19", "21", "100", "9223372036854775807"}) {
    EXPECT_EQ(problem({{"location", "w.bin"}, {"length", length}}),
              "its external data has length " + length + ", float32[5] needs 20");
  }
}

TEST_F(SettleExternalTest, WhatCannotBeOpenedIsBroken) {
  EXPECT_EQ(problem({{"location", "missing.bin"}}), "its data file \"missing.bin\" is missing");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "is absolute", problem({{"location", data_}}));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "leads out", problem({{"location", "../w.bin"}}));
  folder_.folder("sub");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "is a directory", problem({{"location", "sub"}}));
}

TEST_F(SettleExternalTest, WrongEntriesAreBroken) {
  EXPECT_EQ(problem({}), "its external data has no location");
  EXPECT_EQ(problem({{"offset", "0"}}), "its external data has no location");
  EXPECT_EQ(problem({{"location", "w.bin"}, {"location", "w.bin"}}), "its external data has two entries \"location\"");
  EXPECT_NE(problem({{"location", "w.bin"}, {"offset", "-1"}}), "");
}

TEST_F(SettleExternalTest, UnknownKeysAreRemarkedOn) {
  const Settled odd = of({{"location", "w.bin"}, {"Location", "x"}, {"colour", "red"}});
  EXPECT_EQ(odd.problem(), "");
  EXPECT_EQ(odd.notes(), (std::vector<std::string>{"unknown external_data key \"Location\"; it is ignored",
                                                   "unknown external_data key \"colour\"; it is ignored"}));
  EXPECT_TRUE(of({{"location", "w.bin"}, {"basepath", "/tmp"}, {"prepacked_0", "k|0;5;x"}}).remarks.empty());
}

TEST_F(SettleExternalTest, ExternalDataCountsBesideAllElse) {
  const Message with_raw = tensor("w", type::float32, {5}).bytes(9, std::string(20, 'r'));
  const Settled beside_raw = settled(external(with_raw, {{"location", "w.bin"}}));
  EXPECT_EQ(beside_raw.tensor.storage, Storage::external);
  EXPECT_EQ(beside_raw.problem(), "");
  EXPECT_EQ(beside_raw.notes(), std::vector<std::string>{"raw_data beside external data; the external data counts"});
  const Message with_floats = tensor("w", type::float32, {5}).bytes(4, std::string(20, 'f'));
  const Settled beside_floats = settled(external(with_floats, {{"location", "w.bin"}}));
  EXPECT_EQ(beside_floats.tensor.storage, Storage::external);
  EXPECT_EQ(beside_floats.notes(),
            std::vector<std::string>{"float_data beside external data; the external data counts"});
  const Settled broken = settled(external(with_raw, {{"location", "missing.bin"}}));
  EXPECT_EQ(broken.tensor.storage, Storage::external);
  EXPECT_NE(broken.problem(), "");
}

TEST_F(SettleExternalTest, EntriesWithoutDataLocationAreIgnored) {
  const Message message = tensor("w", type::float32, {5}).bytes(9, std::string(20, 'r'));
  for (const uint64_t location : {0, 7}) {
    const Settled got = settled(Message(message).message(13, testing::entry("location", "w.bin")).varint(14, location));
    EXPECT_EQ(got.tensor.storage, Storage::raw_data);
    EXPECT_EQ(got.problem(), "");
    EXPECT_EQ(got.notes().size(), 1u);
    EXPECT_TRUE(opened_.empty());
  }
}

TEST_F(SettleExternalTest, ChecksumIsAnAnnotation) {
  EXPECT_TRUE(of({{"location", "w.bin"}, {"checksum", "abc"}}).tensor.annotated);
  EXPECT_FALSE(of({{"location", "w.bin"}}).tensor.annotated);
}

TEST_F(SettleExternalTest, UnknownTypesShowTheirRange) {
  const auto unknown = [this](const Entries& entries) { return settled(external(tensor("w", 99, {5}), entries)); };
  EXPECT_EQ(unknown({{"location", "w.bin"}}).tensor.nbytes, 100u);
  EXPECT_EQ(unknown({{"location", "w.bin"}, {"offset", "30"}}).tensor.nbytes, 70u);
  EXPECT_EQ(unknown({{"location", "w.bin"}, {"offset", "100"}}).tensor.nbytes, 0u);
  const Settled got = unknown({{"location", "w.bin"}, {"offset", "30"}, {"length", "7"}});
  EXPECT_EQ(got.tensor.data, (ByteRange{30, 37}));
  EXPECT_EQ(got.problem(), "");
  EXPECT_NE(unknown({{"location", "w.bin"}, {"offset", "101"}}).problem(), "");
  EXPECT_NE(unknown({{"location", "w.bin"}, {"offset", "30"}, {"length", "71"}}).problem(), "");
}

TEST_F(SettleExternalTest, BrokenUnknownTypeIsStillExternal) {
  EXPECT_EQ(settled(external(tensor("w", 99, {5}), {{"location", "missing"}})).tensor.storage, Storage::external);
}

TEST_F(SettleExternalTest, ManyTensorsShareAFile) {
  DataFiles files(folder_.path(), "");
  std::vector<Remark> remarks;
  for (const char* location : {"w.bin", "./w.bin", "sub/../w.bin", "w.bin"}) {
    const Message message = external(tensor("w", type::float32, {5}), {{"location", location}});
    wire::Window window(testing::guarded(message.str()));
    TensorFields fields;
    fields.scan(window, {0, message.size()});
    EXPECT_EQ(settle(fields, {0, message.size()}, window, files, remarks).data_file, 0u);
  }
  EXPECT_EQ(files.files().size(), 1u);
}

// The only thing that is no finding: the model file itself cannot be read.
TEST_F(SettleExternalTest, ModelThatCannotBeReadIsAnError) {
  std::vector<Remark> remarks;
  for (const int code : {EIO, ESTALE}) {
    wire::Window window(std::make_shared<testing::FailingSource>(1000, code));
    TensorFields fields;
    fields.data_type = type::float32;
    fields.external = true;
    fields.external_data.push_back({{10, 18}, {20, 25}, 8});
    DataFiles files(folder_.path(), "");
    EXPECT_ERROR(settle(fields, {0, 1000}, window, files, remarks), code, "on fire");
  }
}

}  // namespace
}  // namespace onnxfs
