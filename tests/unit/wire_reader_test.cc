#include "core/wire/reader.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/errors.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs::wire {
namespace {

using testing::guarded;
using testing::Message;
using testing::tag_bytes;
using testing::varint_bytes;

constexpr uint64_t margin = 5;  // of bytes around a message that are none of it

struct Read {
  Field field;
  std::string payload;
};

std::vector<Read> read_all(const std::string& message) {
  const std::string around(margin, '\xff');
  Window window(guarded(around + message + around));
  Reader reader(window, {margin, margin + message.size()});
  std::vector<Read> result;
  for (Field field; reader.next(field);) result.push_back({field, window.text(field.payload)});
  EXPECT_EQ(reader.offset(), margin + message.size());
  return result;
}

TEST(Reader, EmptyMessageHasNoFields) { EXPECT_TRUE(read_all("").empty()); }

TEST(Reader, ReadsEveryWireType) {
  const Message message = Message()
                              .varint(1, 300)
                              .fixed64(2, 0x0807060504030201)
                              .bytes(3, "text")
                              .group(4, Message().varint(1, 7).bytes(2, "in"))
                              .fixed32(5, 0x04030201)
                              .bytes(6, "");
  const auto fields = read_all(message.str());
  ASSERT_EQ(fields.size(), 6u);
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(fields[i].field.number, i + 1);
    EXPECT_EQ(fields[i].field.begin, margin + message.borders()[i]);
    EXPECT_EQ(fields[i].field.value, i == 0 ? 300u : 0u);
  }
  EXPECT_EQ(fields[0].field.type, Type::varint);
  EXPECT_EQ(fields[0].payload, "\xac\x02");
  EXPECT_EQ(fields[1].field.type, Type::fixed64);
  EXPECT_EQ(fields[1].payload, "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(fields[2].field.type, Type::bytes);
  EXPECT_EQ(fields[2].payload, "text");
  EXPECT_EQ(fields[3].field.type, Type::group);
  EXPECT_EQ(fields[4].field.type, Type::fixed32);
  EXPECT_EQ(fields[4].payload, "\x01\x02\x03\x04");
  EXPECT_EQ(fields[5].payload, "");
}

TEST(Reader, FieldAsksForNumberAndType) {
  const auto fields = read_all(Message().varint(9, 1).bytes(9, "").str());
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_TRUE(fields[0].field.is(9, Type::varint));
  EXPECT_FALSE(fields[0].field.is(9, Type::bytes));
  EXPECT_FALSE(fields[0].field.is(1, Type::varint));
  EXPECT_TRUE(fields[1].field.is(9, Type::bytes));
}

TEST(Reader, ReadsVarintsOfEveryValue) {
  std::vector<uint64_t> values{0, 1, 127, 128, 16383, 16384, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) values.push_back(uint64_t{1} << bit);
  Message message;
  for (const uint64_t value : values) message.varint(1, value);
  const auto fields = read_all(message.str());
  ASSERT_EQ(fields.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(fields[i].field.value, values[i]);
}

TEST(Reader, OverlongVarintsAreLegal) {
  for (size_t size = 1; size <= 10; ++size) {
    const auto value = read_all(tag_bytes(3, 0) + varint_bytes(5, size));
    ASSERT_EQ(value.size(), 1u) << size;
    EXPECT_EQ(value[0].field.value, 5u) << size;
    const auto length = read_all(tag_bytes(3, 2) + varint_bytes(2, size) + "ab");
    ASSERT_EQ(length.size(), 1u) << size;
    EXPECT_EQ(length[0].payload, "ab") << size;
    const auto tag = read_all(varint_bytes(3 << 3 | 2, size) + "\x02" + "ab");
    ASSERT_EQ(tag.size(), 1u) << size;
    EXPECT_EQ(tag[0].field.number, 3u) << size;
    EXPECT_EQ(tag[0].payload, "ab") << size;
  }
}

// Protobuf's readers drop what is above bit 63.
TEST(Reader, TheTenthByteOfAVarintCountsOneBit) {
  const std::string nine(9, '\x80');
  const auto fields = read_all(tag_bytes(1, 0) + nine + "\x01" + tag_bytes(1, 0) + nine + "\x7f" + tag_bytes(1, 0) +
                               nine + std::string("\x7e"));
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].field.value, uint64_t{1} << 63);
  EXPECT_EQ(fields[1].field.value, uint64_t{1} << 63);
  EXPECT_EQ(fields[2].field.value, 0u);
}

TEST(Reader, TheLargestFieldNumberIsLegal) {
  const auto fields = read_all(Message().varint(0x1fff'ffff, 1).str());
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].field.number, 0x1fff'ffffu);
}

TEST(Reader, SkipsGroupsWithAllThatIsInThem) {
  const Message inner =
      Message().varint(9, UINT64_MAX).fixed32(1, 0).fixed64(2, 0).bytes(3, "\x0c\x0c").group(1, Message());
  Message nested = inner;
  for (uint32_t depth = 0; depth < 50; ++depth) nested = Message().group(depth % 3 + 1, nested).varint(7, depth);
  const Message message = Message().group(1, inner).group(1000, nested).varint(2, 42);
  const auto fields = read_all(message.str());
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_TRUE(fields[1].field.is(1000, Type::group));
  EXPECT_EQ(fields[1].field.begin, margin + message.borders()[1]);
  EXPECT_EQ(fields[1].field.payload.end, margin + message.borders()[2]);
  EXPECT_EQ(fields[2].field.value, 42u);
}

TEST(Reader, NestedMessageIsReadByAnotherReader) {
  const Message message = Message().message(1, Message().varint(5, 1).varint(6, 2)).varint(2, 3);
  Window window(guarded(message.str()));
  Reader outer(window, {0, message.size()});
  Field field, part;
  ASSERT_TRUE(outer.next(field));
  Reader inner(window, field.payload);
  ASSERT_TRUE(inner.next(part));
  EXPECT_TRUE(part.is(5, Type::varint));
  ASSERT_TRUE(inner.next(part));
  EXPECT_TRUE(part.is(6, Type::varint));
  EXPECT_FALSE(inner.next(part));
  ASSERT_TRUE(outer.next(field));
  EXPECT_TRUE(field.is(2, Type::varint));
  EXPECT_FALSE(outer.next(field));
  EXPECT_FALSE(outer.next(field));
}

std::string random_varints(std::mt19937_64& random, size_t count, std::vector<uint64_t>& values) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = random() >> (random() % 64);
    values.push_back(value);
    bytes += varint_bytes(value, random() % 4 == 0 ? 1 + random() % 10 : 1);
  }
  return bytes;
}

TEST(Reader, StepsThroughPackedVarints) {
  std::mt19937_64 random(2);
  std::vector<uint64_t> values;
  const std::string bytes = random_varints(random, 30'000, values);
  Window window(guarded(bytes));
  Reader reader(window, {0, bytes.size()});
  uint64_t value = 0;
  for (const uint64_t expected : values) {
    ASSERT_TRUE(reader.next_varint(value));
    ASSERT_EQ(value, expected);
  }
  EXPECT_FALSE(reader.next_varint(value));
  EXPECT_EQ(reader.offset(), bytes.size());
}

TEST(Reader, SkipsAsManyVarintsAsItSays) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> values;
  const std::string bytes = random_varints(random, 40'000, values);
  Window window(guarded(bytes));
  for (int round = 0; round < 20; ++round) {
    Reader reader(window, {0, bytes.size()});
    size_t at = 0;
    uint64_t value = 0;
    while (at < values.size()) {
      const uint64_t most = random() % 3 == 0 ? random() % 20'000 : random() % 5;
      const uint64_t skipped = reader.skip_varints(most);
      ASSERT_EQ(skipped, std::min<uint64_t>(most, values.size() - at));
      at += skipped;
      if (at == values.size()) break;
      ASSERT_TRUE(reader.next_varint(value));
      ASSERT_EQ(value, values[at++]);
    }
    EXPECT_EQ(reader.skip_varints(1), 0u);
    EXPECT_EQ(reader.offset(), bytes.size());
  }
}

TEST(Reader, SkipsNoNumberThatIsTooLongWhereverItStands) {
  for (size_t before = 0; before < 20; ++before) {
    for (size_t length = 9; length <= 12; ++length) {
      const std::string bytes = std::string(before, '\x01') + std::string(length - 1, '\x81') + std::string(20, '\x01');
      Window window(guarded(bytes));
      Reader reader(window, {0, bytes.size()});
      if (length <= 10) EXPECT_EQ(reader.skip_varints(UINT64_MAX), before + 20);
      else EXPECT_ERROR(reader.skip_varints(UINT64_MAX), EBADMSG, "more than 10 bytes");
    }
    const std::string cut = std::string(before, '\x01') + "\x81";
    Window window(guarded(cut));
    Reader reader(window, {0, cut.size()});
    EXPECT_ERROR(reader.skip_varints(UINT64_MAX), EBADMSG, "does not end");
  }
}

TEST(Reader, SkipsNoMoreThanItsRange) {
  const std::string bytes(20, '\x01');
  Window window(guarded(bytes));
  Reader reader(window, {5, 12});
  EXPECT_EQ(reader.skip_varints(UINT64_MAX), 7u);
  EXPECT_EQ(reader.offset(), 12u);
}

}  // namespace
}  // namespace onnxfs::wire
