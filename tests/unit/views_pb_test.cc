#include "core/views/pb.h"

#include "tests/unit/allocations.h"
#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using testing::content_of;
using testing::Message;
namespace type = testing::type;

TEST(Pb, IsATensorProtoWithRawData) {
  TensorContent content = content_of(type::float32, {2, 300}, std::string(2400, 'x'));
  content.doc_string = "what it is";
  EXPECT_EQ(pb(content).text(), Message()
                                    .varint(1, 2)
                                    .varint(1, 300)
                                    .varint(2, 1)
                                    .bytes(8, "w")
                                    .bytes(9, std::string(2400, 'x'))
                                    .bytes(12, "what it is")
                                    .str());
}

TEST(Pb, OfNoElementsHasEmptyRawData) {
  EXPECT_EQ(pb(content_of(type::int64, {0}, "")).text(),
            Message().varint(1, 0).varint(2, 7).bytes(8, "w").bytes(9, "").str());
}

TEST(Pb, OfNoNameHasNone) {
  TensorContent content = content_of(type::uint8, {}, "x");
  content.tensor.name = "";
  EXPECT_EQ(pb(content).text(), Message().varint(2, 2).bytes(9, "x").str());
}

TEST(Pb, OfStringsHasStringData) {
  TensorContent content = testing::strings_content({"abc", "", std::string("\xff\0", 2)});
  content.doc_string = "d";
  const std::string expected = Message()
                                   .varint(1, 3)
                                   .varint(2, 8)
                                   .bytes(6, "abc")
                                   .bytes(6, "")
                                   .bytes(6, std::string("\xff\0", 2))
                                   .bytes(8, "w")
                                   .bytes(12, "d")
                                   .str();
  testing::expect_every_read_alike(pb(content), expected);
  EXPECT_EQ(pb(testing::strings_content({})).text(), Message().varint(1, 0).varint(2, 8).bytes(8, "w").str());
}

TEST(Pb, LongStringsAreRightWhereverTheyAreRead) {
  std::vector<std::string> strings;
  Message expected = Message().varint(1, 400).varint(2, 8);
  for (size_t i = 0; i < 400; ++i) {
    strings.emplace_back(i * i, static_cast<char>(i));
    expected.bytes(6, strings.back());
  }
  testing::expect_reads_alike(pb(testing::strings_content(strings)), expected.bytes(8, "w").str());
}

TEST(Pb, UnknownTypesKeepTheirNumber) {
  const std::string text = pb(content_of(-1, {3}, "abc")).text();
  EXPECT_EQ(text, Message().varint(1, 3).varint(2, UINT64_MAX).bytes(8, "w").bytes(9, "abc").str());
}

TEST(Pb, OfEveryTypeIsItsPayload) {
  for (const DataType& type : all_data_types()) {
    if (type.number == string_type) continue;
    for (const uint64_t elements : {0, 1, 3, 10'000}) {
      TensorContent content = testing::random_content(type, elements, elements);
      content.tensor.name = "a/name";
      const std::string expected = Message()
                                       .varint(1, elements)
                                       .varint(2, static_cast<uint64_t>(type.number))
                                       .bytes(8, "a/name")
                                       .bytes(9, content.payload.text())
                                       .str();
      EXPECT_EQ(pb_size(content), expected.size());
      testing::expect_reads_alike(pb(content), expected);
    }
  }
}

TEST(Pb, ThePayloadIsItsOwnExtent) {
  const TensorContent content = content_of(type::float32, {1}, "abcd");
  const auto extents = pb(content).extents();
  ASSERT_EQ(extents.size(), 2u);
  EXPECT_EQ(extents[1].source, content.payload.extents()[0].source);
}

TEST(Pb, SizeAndFileNeedNoPayloadAndNoMemory) {
  const TensorContent content = testing::unreadable_content(*find_data_type(1), uint64_t{1} << 45);
  const testing::AllocationWatch watch;
  EXPECT_EQ(pb_size(content), pb(content).size());
  EXPECT_LE(watch.bytes(), 4096u);
}

TEST(Pb, WhatNoFileCanHoldIsRefused) {
  TensorContent content = content_of(type::uint8, {INT64_MAX}, "");
  content.tensor.nbytes = INT64_MAX;
  EXPECT_ERROR(pb_size(content), EOVERFLOW, "larger than any file");
}

}  // namespace
}  // namespace onnxfs
