// How the occurrences of a TensorProto's fields are merged: as protobuf does it.
#include "core/onnx/tensor_fields.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::guarded;
using testing::Message;
using testing::tag_bytes;
using testing::varint_bytes;

using Dims = std::vector<int64_t>;

// A scan of messages that lie one after another in a file.
struct Scanned {
  explicit Scanned(const std::vector<Message>& parts) : window(guarded(joined(parts))) {
    uint64_t at = 0;
    for (const Message& part : parts) {
      fields.scan(window, {at, at + part.size()});
      at += part.size();
    }
  }
  explicit Scanned(const Message& message) : Scanned(std::vector{message}) {}

  static std::string joined(const std::vector<Message>& parts) {
    std::string text;
    for (const Message& part : parts) text += part.str();
    return text;
  }
  std::string text(ByteRange range) { return window.text(range); }
  std::string raw_data() { return fields.raw_data ? text(*fields.raw_data) : "absent"; }

  wire::Window window;
  TensorFields fields;
};

TEST(TensorFields, EmptyMessageHasNothing) {
  const TensorFields fields = Scanned(Message()).fields;
  EXPECT_TRUE(fields.dims.empty());
  EXPECT_EQ(fields.data_type, 0);
  EXPECT_TRUE(fields.name.empty());
  EXPECT_FALSE(fields.raw_data);
  EXPECT_FALSE(fields.doc_string);
  EXPECT_TRUE(fields.external_data.empty());
  EXPECT_FALSE(fields.external);
  EXPECT_FALSE(fields.segment);
  for (const TypedOccurrences& typed : fields.typed) EXPECT_EQ(typed.most, 0u);
}

TEST(TensorFields, RepeatedFieldsAreJoinedInFileOrder) {
  const Message message =
      Message().varint(1, 7).bytes(1, "\x02\x03").varint(1, 9).bytes(1, "").packed(1, {UINT64_MAX, 1u << 20});
  EXPECT_EQ(Scanned(message).fields.dims, (Dims{7, 2, 3, 9, -1, 1 << 20}));
}

TEST(TensorFields, TheLastOfASingleFieldCounts) {
  Scanned scanned(Message()
                      .bytes(9, "first")
                      .bytes(8, "a name")
                      .varint(2, 1)
                      .bytes(12, "a text")
                      .bytes(9, "last")
                      .varint(2, 11)
                      .bytes(8, "the name")
                      .bytes(12, "the text"));
  EXPECT_EQ(scanned.raw_data(), "last");
  EXPECT_EQ(scanned.text(scanned.fields.name), "the name");
  EXPECT_EQ(scanned.text(*scanned.fields.doc_string), "the text");
  EXPECT_EQ(scanned.fields.data_type, 11);
}

TEST(TensorFields, AnyOrderIsTheSame) {
  Scanned scanned(Message().bytes(9, "12345678").bytes(8, "w").varint(2, 1).varint(1, 2));
  EXPECT_EQ(scanned.fields.dims, Dims{2});
  EXPECT_EQ(scanned.raw_data(), "12345678");
}

TEST(TensorFields, AnotherWireTypeIsAnUnknownField) {
  Scanned scanned(Message()
                      .varint(1, 2)
                      .fixed32(1, 9)
                      .fixed64(1, 9)
                      .group(1, Message().varint(1, 9))
                      .varint(2, 6)
                      .bytes(2, "\x01")
                      .fixed32(2, 1)
                      .bytes(8, "name")
                      .varint(8, 1)
                      .bytes(9, "raw")
                      .varint(9, 1)
                      .group(9, Message().bytes(9, "inner"))
                      .varint(12, 1)
                      .varint(13, 1)
                      .varint(14, 1)
                      .bytes(14, "\x01")
                      .fixed32(14, 0)
                      .varint(3, 1)
                      .varint(4, 1)
                      .fixed64(4, 1)
                      .fixed32(5, 1)
                      .varint(6, 1)
                      .fixed64(7, 1)
                      .fixed32(10, 1)
                      .fixed32(11, 1));
  EXPECT_EQ(scanned.fields.dims, Dims{2});
  EXPECT_EQ(scanned.fields.data_type, 6);
  EXPECT_EQ(scanned.text(scanned.fields.name), "name");
  EXPECT_EQ(scanned.raw_data(), "raw");
  EXPECT_FALSE(scanned.fields.doc_string);
  EXPECT_TRUE(scanned.fields.external_data.empty());
  EXPECT_TRUE(scanned.fields.external);
  EXPECT_FALSE(scanned.fields.segment);
  for (const TypedOccurrences& typed : scanned.fields.typed) EXPECT_EQ(typed.most, 0u);
}

TEST(TensorFields, UnknownFieldsAreSkipped) {
  const Message unknown =
      Message().varint(15, 1).bytes(1000, "\x08\x01").group(17, Message().varint(1, 5)).fixed64(16, 0).fixed32(99, 0);
  Scanned scanned(Message().append(unknown.str()).varint(1, 3).append(unknown.str()).bytes(9, "x"));
  EXPECT_EQ(scanned.fields.dims, Dims{3});
  EXPECT_EQ(scanned.raw_data(), "x");
}

TEST(TensorFields, NumbersOf32BitsAreCutToThem) {
  EXPECT_EQ(Scanned(Message().varint(2, 0x1'0000'0001)).fields.data_type, 1);
  EXPECT_EQ(Scanned(Message().varint(2, UINT64_MAX)).fields.data_type, -1);
  EXPECT_EQ(Scanned(Message().varint(2, 0xffff'ffff)).fields.data_type, -1);
  EXPECT_TRUE(Scanned(Message().varint(14, 0x1'0000'0001)).fields.external);
}

TEST(TensorFields, UnknownDataLocationCountsAsAbsent) {
  EXPECT_TRUE(Scanned(Message().varint(14, 1)).fields.external);
  EXPECT_FALSE(Scanned(Message().varint(14, 1).varint(14, 0)).fields.external);
  for (const uint64_t odd : {uint64_t{2}, uint64_t{3}, uint64_t{7}, UINT64_MAX, uint64_t{0x8000'0001}}) {
    EXPECT_FALSE(Scanned(Message().varint(14, odd)).fields.external) << odd;
    EXPECT_TRUE(Scanned(Message().varint(14, 1).varint(14, odd)).fields.external) << odd;
  }
}

TEST(TensorFields, PresentButEmptyIsNotAbsent) {
  EXPECT_EQ(Scanned(Message()).raw_data(), "absent");
  EXPECT_EQ(Scanned(Message().bytes(9, "")).raw_data(), "");
  EXPECT_EQ(Scanned(Message().bytes(9, "was here").bytes(9, "")).raw_data(), "");
  EXPECT_TRUE(Scanned(Message().bytes(12, "")).fields.doc_string);
}

TEST(TensorFields, OccurrencesOfTheMessageAreMerged) {
  Scanned scanned({Message().varint(1, 2).varint(2, 1).bytes(8, "first").bytes(9, "old").fixed32(4, 0),
                   Message().varint(1, 3).bytes(8, "second").bytes(4, std::string(8, 'x'))});
  EXPECT_EQ(scanned.fields.dims, (Dims{2, 3}));
  EXPECT_EQ(scanned.fields.data_type, 1);
  EXPECT_EQ(scanned.text(scanned.fields.name), "second");
  EXPECT_EQ(scanned.raw_data(), "old");
  EXPECT_EQ(scanned.fields.of(TypedField::float_data).most, 3u);
}

TEST(TensorFields, ClearLeavesNothingOfTheLastOne) {
  const Message full = Message()
                           .varint(1, 2)
                           .varint(2, 1)
                           .bytes(3, "")
                           .bytes(8, "n")
                           .bytes(9, "r")
                           .bytes(12, "d")
                           .message(13, Message().bytes(1, "location").bytes(2, "f"))
                           .varint(14, 1)
                           .fixed32(4, 1)
                           .varint(5, 1)
                           .bytes(6, "s")
                           .varint(7, 1)
                           .fixed64(10, 1)
                           .varint(11, 1);
  Scanned scanned(full);
  ASSERT_TRUE(scanned.fields.external && scanned.fields.segment && scanned.fields.raw_data);
  scanned.fields.clear();
  scanned.fields.scan(scanned.window, {0, 0});
  EXPECT_TRUE(scanned.fields.dims.empty());
  EXPECT_EQ(scanned.fields.data_type, 0);
  EXPECT_TRUE(scanned.fields.name.empty());
  EXPECT_FALSE(scanned.fields.raw_data);
  EXPECT_FALSE(scanned.fields.doc_string);
  EXPECT_TRUE(scanned.fields.external_data.empty());
  EXPECT_FALSE(scanned.fields.external);
  EXPECT_FALSE(scanned.fields.segment);
  for (const TypedOccurrences& typed : scanned.fields.typed) {
    EXPECT_EQ(typed.fewest + typed.most + typed.bytes + typed.packed + typed.unpacked, 0u);
  }
}

TEST(TensorFields, ExternalDataEntriesKeepTheLastKeyAndValue) {
  const Message odd = Message().bytes(2, "v1").bytes(1, "k1").varint(1, 7).bytes(1, "k2").bytes(2, "v2").varint(9, 1);
  Scanned scanned(Message().message(13, odd).message(13, Message()).message(13, Message().bytes(1, "k3")));
  const auto& entries = scanned.fields.external_data;
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(scanned.text(entries[0].key), "k2");
  EXPECT_EQ(scanned.text(entries[0].value), "v2");
  EXPECT_EQ(scanned.text(entries[1].key), "");
  EXPECT_EQ(scanned.text(entries[2].key), "k3");
  EXPECT_EQ(scanned.text(entries[2].value), "");
}

TEST(TensorFields, CorruptPartsAreErrorsWithTheirOffsets) {
  const auto scan = [](const Message& message) { Scanned{message}; };
  const Message before = Message().varint(1, 1);
  EXPECT_ERROR(scan(Message(before).bytes(4, "12345")), EBADMSG,
               "corrupt at offset 2: 5 bytes are no whole number of 4");
  EXPECT_ERROR(scan(Message(before).bytes(10, "123456789")), EBADMSG, "corrupt at offset 2: 9 bytes are no whole");
  EXPECT_ERROR(scan(Message(before).bytes(5, "\x80")), EBADMSG, "truncated at offset 5");
  EXPECT_ERROR(scan(Message(before).bytes(1, varint_bytes(1, 11))), EBADMSG, "corrupt at offset 4");
  EXPECT_ERROR(scan(Message(before).bytes(13, tag_bytes(1, 2) + "\x05" + "abc")), EBADMSG, "truncated at offset 9");
}

}  // namespace
}  // namespace onnxfs
