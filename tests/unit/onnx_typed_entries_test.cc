#include "core/onnx/typed_entries.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/errors.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::guarded;
using testing::Message;

using Values = std::vector<uint64_t>;

// Some numbers in runs and alone, with much between them that is no entry.
Message numbers(Values& values) {
  std::mt19937_64 random(17);
  Message message;
  for (int i = 0; i < 400; ++i) {
    Values run;
    for (uint64_t count = random() % 40; count != 0; --count) run.push_back(random() >> (random() % 64));
    message.packed(7, run).varint(7, static_cast<uint64_t>(i)).fixed32(7, 9).bytes(5, "\x01").group(7, Message());
    values.insert(values.end(), run.begin(), run.end());
    values.push_back(static_cast<uint64_t>(i));
  }
  return message;
}

class TypedEntriesTest : public ::testing::Test {
 protected:
  Values values_;
  const Message message_ = numbers(values_);
  wire::Window window_{guarded(message_.str())};
  const ByteRange all_{0, message_.size()};
  TypedEntries entries_{window_, {&all_, 1}, EntryField::of(TypedField::int64_data)};
  TypedEntries::Entry entry_;
};

TEST_F(TypedEntriesTest, AreAllThereAreInOrder) {
  for (const uint64_t value : values_) {
    ASSERT_TRUE(entries_.next(entry_));
    ASSERT_EQ(entry_.value, value);
  }
  EXPECT_FALSE(entries_.next(entry_));
  EXPECT_FALSE(entries_.next(entry_));
  EXPECT_EQ(entries_.skip(1), 0u);
}

TEST_F(TypedEntriesTest, SkipsAsManyAsItSays) {
  std::mt19937_64 random(18);
  for (int round = 0; round < 50; ++round) {
    entries_.go_to({0, 0});
    size_t at = 0;
    while (at < values_.size()) {
      const uint64_t most = random() % 100;
      const uint64_t skipped = entries_.skip(most);
      ASSERT_EQ(skipped, std::min<uint64_t>(most, values_.size() - at));
      at += skipped;
      if (at == values_.size()) break;
      ASSERT_TRUE(entries_.next(entry_));
      ASSERT_EQ(entry_.value, values_[at++]);
    }
  }
}

TEST_F(TypedEntriesTest, LooksAtAllThatItSkips) {
  std::mt19937_64 random(20);
  size_t at = 0;
  while (at < values_.size()) {
    const uint64_t most = 1 + random() % 100;
    EntryValues seen, expected;
    const uint64_t skipped = entries_.skip_looking(most, TypedField::int64_data, seen);
    ASSERT_EQ(skipped, std::min<uint64_t>(most, values_.size() - at));
    for (uint64_t i = 0; i < skipped; ++i) expected.add(static_cast<int64_t>(values_[at++]));
    ASSERT_EQ(seen.least, expected.least);
    ASSERT_EQ(seen.most, expected.most);
    ASSERT_EQ(seen.last, expected.last);
  }
  EntryValues none;
  EXPECT_EQ(entries_.skip_looking(1, TypedField::int64_data, none), 0u);
  EXPECT_GT(none.least, none.most);
}

TEST_F(TypedEntriesTest, GoOnFromAnyPosition) {
  std::vector<TypedEntries::Position> positions;
  for (size_t i = 0; i < values_.size(); ++i) {
    positions.push_back(entries_.position());
    entries_.next(entry_);
  }
  std::mt19937_64 random(19);
  for (int i = 0; i < 2000; ++i) {
    const size_t at = random() % values_.size();
    entries_.go_to(positions[at]);
    for (size_t next = at; next < std::min(at + 5, values_.size()); ++next) {
      ASSERT_TRUE(entries_.next(entry_));
      ASSERT_EQ(entry_.value, values_[next]);
    }
  }
}

TEST(TypedEntries, OfFixedSizeAndStringsAreRanges) {
  const Message message = Message().fixed32(4, 1).bytes(4, "aaaabbbb").bytes(6, "").bytes(6, "text").bytes(4, "cccc");
  wire::Window window(guarded(message.str()));
  const auto texts = [&](TypedField field) {
    const ByteRange entries_range{0, message.size()};
    TypedEntries entries(window, {&entries_range, 1}, EntryField::of(field));
    std::vector<std::string> result;
    for (TypedEntries::Entry entry; entries.next(entry);) result.push_back(window.text(entry.bytes));
    return result;
  };
  EXPECT_EQ(texts(TypedField::float_data),
            (std::vector<std::string>{std::string("\x01\0\0\0", 4), "aaaa", "bbbb", "cccc"}));
  EXPECT_EQ(texts(TypedField::string_data), (std::vector<std::string>{"", "text"}));
  EXPECT_TRUE(texts(TypedField::double_data).empty());
}

TEST(TypedEntries, NumbersThatAreTooLongAreErrors) {
  for (size_t before : {0, 1, 5, 20}) {
    for (const size_t length : {10, 11, 12}) {
      const Message message =
          Message().bytes(5, std::string(before, '\x01') + std::string(length - 1, '\x80') + "\x01");
      wire::Window window(guarded(message.str()));
      const ByteRange range{0, message.size()};
      TypedEntries entries(window, {&range, 1}, EntryField::of(TypedField::int32_data));
      EntryValues seen;
      const auto look = [&] { return entries.skip_looking(100, TypedField::int32_data, seen); };
      if (length == 10) EXPECT_EQ(look(), before + 1);
      else EXPECT_ERROR(look(), EBADMSG, "more than 10 bytes");
    }
  }
}

TEST(TypedEntries, CorruptMessagesAreErrors) {
  const Message message = Message().varint(7, 1).bytes(7, "\x80").raw("\x07");
  wire::Window window(guarded(message.str()));
  const ByteRange entries_range{0, message.size()};
  TypedEntries entries(window, {&entries_range, 1}, EntryField::of(TypedField::int64_data));
  TypedEntries::Entry entry;
  ASSERT_TRUE(entries.next(entry));
  EXPECT_ERROR(entries.next(entry), EBADMSG, "truncated at offset 5");
  EXPECT_ERROR(entries.skip(1), EBADMSG, "truncated at offset 5");
  EntryValues seen;
  EXPECT_ERROR(entries.skip_looking(1, TypedField::int64_data, seen), EBADMSG, "truncated at offset 5");
  const ByteRange others_range{0, message.size()};
  TypedEntries others(window, {&others_range, 1}, EntryField::of(TypedField::int32_data));
  EXPECT_ERROR(others.next(entry), EBADMSG, "corrupt at offset 5");
}

}  // namespace
}  // namespace onnxfs
