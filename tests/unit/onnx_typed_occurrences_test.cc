// How the entries of a TensorProto's typed fields are counted while it is scanned.
#include <gtest/gtest.h>

#include "core/onnx/tensor_fields.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::guarded;
using testing::Message;
using testing::PatchworkSource;

TypedOccurrences occurrences(const Message& message, TypedField field) {
  wire::Window window(guarded(message.str()));
  TensorFields fields;
  fields.scan(window, {0, message.size()});
  return fields.of(field);
}

TEST(TypedOccurrences, FixedSizeEntriesAreCounted) {
  const Message floats =
      Message().fixed32(4, 1).bytes(4, std::string(12, 'f')).bytes(4, "").fixed32(4, 2).bytes(4, std::string(4, 'f'));
  const TypedOccurrences single = occurrences(floats, TypedField::float_data);
  EXPECT_EQ(single.fewest, 6u);
  EXPECT_TRUE(single.counted());
  EXPECT_EQ(single.packed, 3u);
  EXPECT_EQ(single.unpacked, 2u);
  EXPECT_EQ(single.first_packed, (ByteRange{7, 19}));
  const Message doubles = Message().fixed64(10, 1).bytes(10, std::string(16, 'd'));
  EXPECT_EQ(occurrences(doubles, TypedField::double_data).most, 3u);
}

TEST(TypedOccurrences, VarintsAreCountedByThemselvesAndInShortRuns) {
  for (const uint32_t number : {5u, 7u, 11u}) {
    const Message message =
        Message().varint(number, 1).packed(number, {300, UINT64_MAX, 0}).packed(number, {}).varint(number, 2);
    const TypedOccurrences typed = occurrences(message, static_cast<TypedField>(number));
    EXPECT_EQ(typed.fewest, 5u);
    EXPECT_EQ(typed.most, 5u);
    EXPECT_EQ(typed.packed, 2u);
    EXPECT_EQ(typed.unpacked, 2u);
  }
}

TEST(TypedOccurrences, StringsAreCountedAndMeasured) {
  const TypedOccurrences typed =
      occurrences(Message().bytes(6, "abc").bytes(6, "").bytes(6, "de"), TypedField::string_data);
  EXPECT_EQ(typed.fewest, 3u);
  EXPECT_EQ(typed.most, 3u);
  EXPECT_EQ(typed.bytes, 5u);
}

// Whatever the size of a run, its bounds hold: as many numbers as bytes at most, a tenth of it at least.
TEST(TypedOccurrences, BoundsOfARunHoldWhateverItsSize) {
  for (size_t count = 100; count < 5000; count += 97) {
    for (const uint64_t value : {uint64_t{1}, uint64_t{300}, UINT64_MAX}) {
      const TypedOccurrences typed =
          occurrences(Message().packed(7, std::vector<uint64_t>(count, value)), TypedField::int64_data);
      EXPECT_LE(typed.fewest, count);
      EXPECT_GE(typed.most, count);
      EXPECT_GT(typed.fewest, 0u);
    }
  }
}

TEST(TypedOccurrences, LongRunsAreNotRead) {
  constexpr uint64_t size = 100 << 20;
  const auto source = std::make_shared<PatchworkSource>();
  source->text(Message().packed(7, {1, 2, 3}).str());
  for (const uint32_t number : {4u, 5u, 7u, 9u, 10u, 11u, 6u}) {
    source->text(testing::header_bytes(number, size)).hole(size);
  }
  wire::Window window(source);
  TensorFields fields;
  fields.scan(window, {0, window.size()});
  EXPECT_LE(source->bytes_read(), 100 * 1024u);
  EXPECT_EQ(fields.of(TypedField::float_data).most, size / 4);
  EXPECT_EQ(fields.of(TypedField::double_data).most, size / 8);
  const TypedOccurrences& run = fields.of(TypedField::int64_data);
  EXPECT_FALSE(run.counted());
  EXPECT_EQ(run.fewest, 3 + size / 10);
  EXPECT_EQ(run.most, 3 + size);
  EXPECT_EQ(fields.of(TypedField::string_data).bytes, size);
}

}  // namespace
}  // namespace onnxfs
