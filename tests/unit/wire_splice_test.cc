#include "core/wire/splice.h"

#include <gtest/gtest.h>

#include "core/wire/encoder.h"
#include "tests/unit/errors.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs::wire {
namespace {

using onnxfs::testing::guarded;
using onnxfs::testing::Message;
using onnxfs::testing::tag_bytes;
using onnxfs::testing::varint_bytes;

std::string spliced_text(const Message& message, std::vector<Splice> splices) {
  const SourcePtr source = guarded(message.str());
  Window window(source);
  return patched(source, splice(window, std::move(splices))).text();
}

// The payload of the n-th field of the message at `range`.
ByteRange payload(const Message& message, ByteRange range, int n) {
  Window window(guarded(message.str()));
  Reader reader(window, range);
  Field field;
  for (; n >= 0; --n) EXPECT_TRUE(reader.next(field));
  return field.payload;
}

ByteRange all(const Message& message) { return {0, message.size()}; }

TEST(Encoder, WritesTheShortestForm) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 35, UINT64_MAX}) {
    std::string bytes;
    append_varint(bytes, value);
    EXPECT_EQ(bytes, varint_bytes(value));
  }
  std::string bytes;
  append_header(bytes, 1000, 300);
  EXPECT_EQ(bytes, onnxfs::testing::header_bytes(1000, 300));
}

TEST(Splice, NothingIsNothing) { EXPECT_EQ(spliced_text(Message().varint(1, 2), {}), Message().varint(1, 2).str()); }

TEST(Splice, OutermostMessageHasNoLength) {
  const Message message = Message().varint(1, 2).bytes(3, "x");
  const std::string expected = Message().varint(5, 6).str() + message.str();
  EXPECT_EQ(spliced_text(message, {{all(message), {{0, 0}, Rope::of(Message().varint(5, 6).str())}}}), expected);
}

TEST(Splice, LengthsAroundItAreCorrectedOnEveryLevel) {
  const auto nested = [](const std::string& text) {
    return Message()
        .bytes(9, "first")
        .message(1, Message().varint(7, 7).message(2, Message().bytes(3, text)))
        .varint(8, 8);
  };
  const Message before = nested("abc");
  const ByteRange outer = payload(before, all(before), 1), inner = payload(before, outer, 1);
  for (const size_t size : {0, 1, 3, 120, 126, 200, 20'000}) {  // the inner and the outer grow by a byte at others
    const std::string text(size, 'z');
    EXPECT_EQ(spliced_text(before, {{inner, {inner, Rope::of(Message().bytes(3, text).str())}}}), nested(text).str());
  }
}

TEST(Splice, LengthThatStaysKeepsItsBytesAndOneThatChangesGetsTheShortest) {
  const auto nested = [](const std::string& text, size_t length_size) {
    const std::string inner = Message().bytes(3, text).str();
    return Message().raw(tag_bytes(1, 2) + varint_bytes(inner.size(), length_size) + inner);
  };
  const Message before = nested("abc", 7);
  const ByteRange inner = payload(before, all(before), 0);
  const auto with = [&](const std::string& text) {
    return spliced_text(before, {{inner, {inner, Rope::of(Message().bytes(3, text).str())}}});
  };
  EXPECT_EQ(with("xyz"), nested("xyz", 7).str());
  EXPECT_EQ(with("xyzzy"), nested("xyzzy", 1).str());
}

TEST(Splice, ChangesThatMakeUpForEachOtherChangeNoLength) {
  const Message before = Message().message(1, Message().bytes(2, "ab").bytes(3, "cd"));
  const ByteRange inner = payload(before, all(before), 0);
  const std::string text =
      spliced_text(before, {{inner, {{inner.begin, inner.begin}, Rope::of(Message().varint(9, 9).str())}},
                            {inner, {{inner.end - 4, inner.end}, Rope::of(Message().bytes(3, "").str())}}});
  EXPECT_EQ(text, Message().message(1, Message().varint(9, 9).bytes(2, "ab").bytes(3, "")).str());
}

TEST(Splice, EmptyMessagesAreFoundWhereverTheyStand) {
  const std::string added = Message().varint(1, 1).str();
  const Message inner = Message().varint(1, 1);
  const Message last = Message().message(1, Message().message(2, Message())).message(3, Message().varint(4, 4));
  const ByteRange empty = payload(last, payload(last, all(last), 0), 0);
  EXPECT_EQ(spliced_text(last, {{empty, {empty, Rope::of(added)}}}),
            Message().message(1, Message().message(2, inner)).message(3, Message().varint(4, 4)).str());
  const Message end = Message().varint(5, 5).message(1, Message());
  const ByteRange at_end = payload(end, all(end), 1);
  EXPECT_EQ(spliced_text(end, {{at_end, {at_end, Rope::of(added)}}}), Message().varint(5, 5).message(1, inner).str());
}

TEST(Splice, AMessageAndOneInsideOfItMayBothChange) {
  const Message before = Message().message(1, Message().bytes(2, "ab").message(3, Message().bytes(4, "cd")));
  const ByteRange outer = payload(before, all(before), 0), inner = payload(before, outer, 1);
  const std::string text =
      spliced_text(before, {{inner, {inner, Rope()}},
                            {outer, {{outer.begin, outer.begin + 4}, Rope::of(Message().bytes(2, "abab").str())}}});
  EXPECT_EQ(text, Message().message(1, Message().bytes(2, "abab").message(3, Message())).str());
}

TEST(Splice, OneFieldMayMakeWayByItself) {
  const Message before = Message().message(1, Message().varint(7, 7).bytes(4, "text").varint(3, 1));
  const ByteRange inner = payload(before, all(before), 0);
  const ByteRange text{inner.begin + 2, inner.begin + 8}, number{inner.begin + 8, inner.end};
  EXPECT_EQ(spliced_text(before, {{number, {number, Rope::of(Message().varint(3, 1000).str())}},
                                  {text, {text, Rope::of(Message().bytes(4, "").str())}}}),
            Message().message(1, Message().varint(7, 7).bytes(4, "").varint(3, 1000)).str());
}

TEST(Splice, FieldsWithoutSplicesAreNotRead) {
  const Message tail = Message().message(1, Message().bytes(2, "ab"));
  const std::string header = tag_bytes(9, 2) + varint_bytes(uint64_t{1} << 30);
  auto source = std::make_shared<onnxfs::testing::PatchworkSource>();
  source->text(header).hole(uint64_t{1} << 30).text(tail.str());
  Window window(source);
  const uint64_t end = source->size();
  const auto patches = splice(window, {{{end - 4, end}, {{end, end}, Rope::of("\x08\x01")}}});
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_EQ(patches[0].content.text(), "\x06");
  EXPECT_LE(source->bytes_read(), 20'000U);
}

TEST(Splice, DeepNestingTakesNoStack) {
  constexpr int depth = 20'000;
  std::string text;
  for (int i = 0; i < depth; ++i) text.insert(0, onnxfs::testing::header_bytes(1, text.size()));
  const SourcePtr source = guarded(text);
  Window window(source);
  const ByteRange innermost{text.size(), text.size()};
  const Rope result = patched(source, splice(window, {{innermost, {innermost, Rope::of("\x08\x01")}}}));
  std::string expected = "\x08\x01";
  for (int i = 0; i < depth; ++i) expected.insert(0, onnxfs::testing::header_bytes(1, expected.size()));
  EXPECT_TRUE(result.text() == expected);
}

TEST(Splice, BytesThatAreNoMessageAreAnError) {
  const Message corrupt = Message().raw("\x0f\x01");
  EXPECT_ERROR(spliced_text(corrupt, {{{1, 2}, {{1, 1}, Rope::of("x")}}}), EBADMSG, "offset 0");
}

}  // namespace
}  // namespace onnxfs::wire
