// What is no message is an error with the offset, never a crash and never a read outside of the source.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/wire/reader.h"
#include "tests/unit/errors.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs::wire {
namespace {

using testing::caught;
using testing::Caught;
using testing::guarded;
using testing::header_bytes;
using testing::Message;
using testing::tag_bytes;
using testing::varint_bytes;

size_t read_fields(const SourcePtr& source, ByteRange range) {
  Window window(source);
  Reader reader(window, range);
  size_t count = 0;
  for (Field field; reader.next(field);) ++count;
  return count;
}

size_t read_fields(const std::string& bytes) { return read_fields(guarded(bytes), {0, bytes.size()}); }

// Each kind of field, each with varints of several bytes, so that a cut can fall into any part of it.
Message every_kind() {
  Message deep = Message().varint(300, 5).group(301, Message().bytes(302, std::string(200, 'x')).fixed64(1, 2));
  return Message()
      .varint(100, UINT64_MAX)
      .fixed64(101, 1)
      .bytes(102, std::string(300, 'p'))
      .fixed32(103, 1)
      .group(104, deep)
      .varint(105, 1);
}

TEST(CorruptWire, MessageCutAnywhereIsTruncatedThere) {
  const Message message = every_kind();
  for (size_t cut = 0; cut <= message.size(); ++cut) {
    const std::string text = message.str().substr(0, cut);
    const bool at_border = cut == message.size() || std::ranges::count(message.borders(), cut) != 0;
    const Caught whole_file = caught([&] { read_fields(text); });
    // The same within a larger file, where what follows looks like more of it.
    const std::string before(7, '\x08');
    const Caught within = caught([&] { read_fields(guarded(before + message.str()), {7, 7 + cut}); });
    if (at_border) {
      EXPECT_EQ(whole_file.code, 0) << "cut at " << cut << ": " << whole_file.text;
      EXPECT_EQ(within.code, 0) << "cut at " << cut << ": " << within.text;
    } else {
      EXPECT_EQ(whole_file.code, EBADMSG) << "cut at " << cut;
      EXPECT_TRUE(whole_file.text.starts_with("truncated at offset " + std::to_string(cut) + ":")) << whole_file.text;
      EXPECT_EQ(within.code, EBADMSG) << "cut at " << cut;
      EXPECT_TRUE(within.text.starts_with("truncated at offset " + std::to_string(7 + cut) + ":")) << within.text;
    }
  }
}

TEST(CorruptWire, VarintsOfElevenBytesAreNone) {
  const std::string before = Message().varint(1, 1).str();
  const std::string eleven = varint_bytes(1, 11);
  EXPECT_ERROR(read_fields(before + eleven), EBADMSG, "corrupt at offset 2: a tag of more than 10 bytes");
  EXPECT_ERROR(read_fields(before + tag_bytes(1, 0) + eleven), EBADMSG, "corrupt at offset 3: a value of more than");
  EXPECT_ERROR(read_fields(before + tag_bytes(1, 2) + eleven + "x"), EBADMSG,
               "corrupt at offset 3: a length of more than");
  EXPECT_ERROR(read_fields(tag_bytes(1, 3) + tag_bytes(1, 0) + eleven + tag_bytes(1, 4)), EBADMSG,
               "corrupt at offset 2: a value of more than");
}

TEST(CorruptWire, PackedVarintsAreCheckedToo) {
  const std::string good = varint_bytes(300) + varint_bytes(5);
  for (const std::string& bytes : {good + varint_bytes(1, 11), good + std::string(500, '\x80')}) {
    Window window(guarded(bytes));
    Reader stepping(window, {0, bytes.size()}), skipping(window, {0, bytes.size()});
    uint64_t value = 0;
    ASSERT_TRUE(stepping.next_varint(value) && stepping.next_varint(value));
    EXPECT_ERROR(stepping.next_varint(value), EBADMSG, "corrupt at offset 3");
    ASSERT_EQ(skipping.skip_varints(2), 2u);
    EXPECT_ERROR(skipping.skip_varints(1), EBADMSG, "corrupt at offset");
  }
}

TEST(CorruptWire, PackedVarintsMayBeTruncated) {
  const std::string bytes = varint_bytes(300) + "\xff\xff" + "\x01";
  for (const uint64_t end : {3u, 4u}) {  // the range ends within the second number, though the source goes on
    Window window(guarded(bytes));
    Reader stepping(window, {0, end}), skipping(window, {0, end});
    uint64_t value = 0;
    ASSERT_TRUE(stepping.next_varint(value));
    EXPECT_ERROR(stepping.next_varint(value), EBADMSG, "truncated at offset " + std::to_string(end));
    EXPECT_ERROR(skipping.skip_varints(5), EBADMSG, "truncated at offset " + std::to_string(end));
  }
}

TEST(CorruptWire, FieldNumbersHaveBounds) {
  EXPECT_ERROR(read_fields(Message().varint(1, 1).str() + tag_bytes(0, 0) + "\x01"), EBADMSG,
               "corrupt at offset 2: 0 is no field number");
  EXPECT_ERROR(read_fields(std::string(1, '\0')), EBADMSG, "corrupt at offset 0: 0 is no field number");
  EXPECT_ERROR(read_fields(tag_bytes(0x2000'0000, 0) + "\x01"), EBADMSG, "536870912 is no field number");
  EXPECT_ERROR(read_fields(varint_bytes(UINT64_MAX - 7) + "\x01"), EBADMSG, "is no field number");
  EXPECT_ERROR(read_fields(tag_bytes(1, 3) + tag_bytes(0, 0) + "\x01" + tag_bytes(1, 4)), EBADMSG,
               "corrupt at offset 1: 0 is no field number");
}

TEST(CorruptWire, WireTypesSixAndSevenAreNone) {
  for (const unsigned type : {6u, 7u}) {
    EXPECT_ERROR(read_fields("\x08\x01" + tag_bytes(5, type) + "\x01"), EBADMSG,
                 "corrupt at offset 2: " + std::to_string(type) + " is no wire type");
    EXPECT_ERROR(read_fields(tag_bytes(1, 3) + tag_bytes(5, type) + tag_bytes(1, 4)), EBADMSG,
                 "corrupt at offset 1: " + std::to_string(type) + " is no wire type");
  }
}

TEST(CorruptWire, LengthsNearTheEndOfTheAddressSpace) {
  const std::string rest(40, 'r');
  for (const uint64_t length : {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 40, UINT64_MAX - 64, uint64_t{1} << 63,
                                (uint64_t{1} << 63) - 1, uint64_t{1} << 32, uint64_t{41}}) {
    const std::string bytes = Message().varint(1, 1).str() + header_bytes(2, length) + rest;
    EXPECT_ERROR(read_fields(bytes), EBADMSG,
                 "truncated at offset " + std::to_string(bytes.size()) + ": field 2 at 2 needs " +
                     std::to_string(length) + " bytes and 40 are left");
    const std::string in_group = tag_bytes(1, 3) + header_bytes(2, length) + rest;
    EXPECT_ERROR(read_fields(in_group), EBADMSG, "truncated at offset " + std::to_string(in_group.size()));
  }
}

TEST(CorruptWire, GroupsEndWhereTheyBegan) {
  const std::string end = tag_bytes(1, 4);
  EXPECT_ERROR(read_fields(Message().varint(5, 1).str() + end), EBADMSG,
               "corrupt at offset 2: a group ends that did not begin");
  EXPECT_ERROR(read_fields(Message().group(2, Message()).str() + end), EBADMSG, "corrupt at offset 2");
  EXPECT_ERROR(read_fields(tag_bytes(2, 3) + end), EBADMSG, "corrupt at offset 1: group 1 ends where 2 should");
  const std::string crossed = tag_bytes(1, 3) + tag_bytes(2, 3) + end + tag_bytes(2, 4);
  EXPECT_ERROR(read_fields(crossed), EBADMSG, "corrupt at offset 2: group 1 ends where 2 should");
}

TEST(CorruptWire, GroupsMustEnd) {
  EXPECT_ERROR(read_fields("\x08\x01" + tag_bytes(1, 3)), EBADMSG,
               "truncated at offset 3: a group that began at 2 does not end");
  EXPECT_ERROR(read_fields(tag_bytes(1, 3) + Message().group(1, Message().varint(4, 1)).str()), EBADMSG,
               "truncated at offset 5: a group that began at 0 does not end");
}

TEST(CorruptWire, AMillionNestedGroupsAreAnError) {
  EXPECT_ERROR(read_fields(std::string(1'000'000, '\x0b')), EBADMSG, "corrupt at offset");
}

// A sound message in which some bytes were changed, and noise.
std::string damaged(std::mt19937_64& random) {
  std::string text = every_kind().str();
  if (random() % 4 == 0) {
    for (char& c : text) c = static_cast<char>(random());
    return text.substr(random() % text.size());
  }
  for (uint64_t changes = 1 + random() % 4; changes != 0; --changes) {
    const size_t at = random() % text.size();
    switch (random() % 3) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text.erase(at, 1 + random() % 3); break;
      default: text.insert(at, 1 + random() % 3, static_cast<char>(random())); break;
    }
  }
  return text;
}

TEST(CorruptWire, WhateverTheBytesFieldsLieWithinTheMessage) {
  std::mt19937_64 random(4);
  size_t sound = 0, corrupt = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = damaged(random);
    const size_t from = random() % (text.size() + 1);
    Window window(guarded(text));
    Reader reader(window, {from, text.size()});
    uint64_t at = from;
    const Caught error = caught([&] {
      for (Field field; reader.next(field);) {
        ASSERT_EQ(field.begin, at);
        ASSERT_GT(field.payload.begin, field.begin);
        ASSERT_LE(field.payload.begin, field.payload.end);
        ASSERT_EQ(field.payload.end, reader.offset());
        ASSERT_LE(reader.offset(), text.size());
        ASSERT_TRUE(field.number >= 1 && field.number <= 0x1fff'ffff);
        at = reader.offset();
      }
    });
    ASSERT_TRUE(error.code == 0 || error.code == EBADMSG) << error.text;
    ++(error.code == 0 ? sound : corrupt);
  }
  EXPECT_GT(sound, 1000u);
  EXPECT_GT(corrupt, 1000u);
}

}  // namespace
}  // namespace onnxfs::wire
