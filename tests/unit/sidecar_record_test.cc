#include "core/sidecar/record.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/bytes/hash.h"
#include "core/sidecar/annotation.h"
#include "tests/unit/message.h"

namespace onnxfs {
namespace {

using testing::fixed_bytes;

constexpr uint64_t log_id = 0x0123456789abcdef;

Record example() {
  Record record;
  record.type = RecordType::write;
  record.length = 5;
  record.tensor = 0x01020304;
  record.message = 0x1112131415161718;
  record.offset = 0x2122232425262728;
  record.sequence = 0x31;
  record.flushed = 0x41;
  record.time = -2;
  record.base_hash = 0x5152535455565758;
  record.bytes_hash = 0x6162636465666768;
  return record;
}

template <size_t size>
std::string text_of(const std::array<std::byte, size>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

TEST(Record, IsWrittenAsTheFormatSays) {
  const std::string expected = std::string("oxr\1") + fixed_bytes(1, 4) + fixed_bytes(5, 4) +
                               fixed_bytes(0x01020304, 4) + fixed_bytes(0x1112131415161718, 8) +
                               fixed_bytes(0x2122232425262728, 8) + fixed_bytes(0x31, 8) + fixed_bytes(0x41, 8) +
                               fixed_bytes(static_cast<uint64_t>(-2), 8) + fixed_bytes(0x5152535455565758, 8) +
                               fixed_bytes(0x6162636465666768, 8);
  const std::string encoded = text_of(example().encode(log_id));
  EXPECT_EQ(encoded.substr(0, 72), expected);
  EXPECT_EQ(encoded.size(), 80u);
}

TEST(Record, ReadsBack) {
  const Record record = Record::decode(example().encode(log_id), log_id).value();
  EXPECT_EQ(text_of(record.encode(log_id)), text_of(example().encode(log_id)));
  EXPECT_EQ(record.time, -2);
  EXPECT_EQ(record.size(), 88u);
  EXPECT_EQ(Record::size_for(0), 80u);
  EXPECT_EQ(Record::size_for(8), 88u);
  EXPECT_EQ(Record::size_for(9), 96u);
}

TEST(Record, AnyDamageShows) {
  const Record::Header good = example().encode(log_id);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Record::Header bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(Record::decode(bad, log_id)) << bit;
  }
  EXPECT_FALSE(Record::decode(good, log_id + 1)) << "of another log";
}

TEST(Record, WhatNoVersionWritesIsNone) {
  Record record = example();
  record.length = largest_record;
  EXPECT_TRUE(Record::decode(record.encode(log_id), log_id));
  record.length = largest_record + 1;
  EXPECT_FALSE(Record::decode(record.encode(log_id), log_id));
  record = example();
  for (const uint32_t type : {0u, 10u, 0x101u}) {
    record.type = static_cast<RecordType>(type);
    EXPECT_FALSE(Record::decode(record.encode(log_id), log_id)) << type;
  }
}

TEST(Record, FirstOfAStageGivesItsId) {
  Record record;
  record.type = RecordType::staged_resize;
  record.sequence = 9;
  EXPECT_TRUE(record.staged());
  EXPECT_EQ(record.stage_id(), 9u);
  record.message = 4;
  EXPECT_EQ(record.stage_id(), 4u);
  const StageReference reference = StageReference::decode(StageReference{7, 1ul << 40}.encode());
  EXPECT_EQ(reference.id, 7u);
  EXPECT_EQ(reference.records, 1ul << 40);
}

TEST(BlobHeader, IsWrittenAsTheFormatSays) {
  const auto encoded = BlobHeader{1, 7, log_id}.encode();
  EXPECT_EQ(text_of(encoded).substr(0, 24),
            "onnxfsbl" + fixed_bytes(1, 4) + fixed_bytes(7, 4) + fixed_bytes(log_id, 8));
  const BlobHeader header = BlobHeader::decode(encoded).value();
  EXPECT_EQ(header.number, 7u);
  EXPECT_EQ(header.log_id, log_id);
  for (size_t i = 0; i < encoded.size(); ++i) {
    auto bad = encoded;
    bad[i] ^= std::byte{1};
    EXPECT_FALSE(BlobHeader::decode(bad)) << i;
  }
}

TEST(Annotation, ReadsBack) {
  using Dims = std::vector<int64_t>;
  for (const auto& dims : {std::optional<Dims>(), std::optional(Dims()), std::optional(Dims{1, -2, INT64_MAX})}) {
    for (const auto& doc : {std::optional<std::string>(), std::optional(std::string()),
                            std::optional(std::string("nul \0 and \xff", 11))}) {
      const std::string text = Annotation{dims, doc}.encode();
      const auto annotation = Annotation::decode(std::as_bytes(std::span(text)));
      ASSERT_TRUE(annotation);
      EXPECT_EQ(annotation->dims, dims);
      EXPECT_EQ(annotation->doc_string, doc);
    }
  }
}

TEST(Annotation, RefusesWhatDoesNotFit) {
  const auto decoded = [](const std::string& text) { return Annotation::decode(std::as_bytes(std::span(text))); };
  EXPECT_FALSE(decoded(""));
  EXPECT_FALSE(decoded(fixed_bytes(1, 4) + "123"));
  EXPECT_FALSE(decoded(fixed_bytes(4, 4) + fixed_bytes(0, 4))) << "an unknown flag";
  EXPECT_FALSE(decoded(fixed_bytes(2, 4) + fixed_bytes(1, 4) + fixed_bytes(1, 8))) << "no shape, with a dimension";
  EXPECT_FALSE(decoded(fixed_bytes(1, 4) + fixed_bytes(1, 4) + fixed_bytes(1, 8) + "x")) << "unasked for";
  EXPECT_FALSE(decoded(fixed_bytes(1, 4) + fixed_bytes(2, 4) + fixed_bytes(1, 8)));
  EXPECT_FALSE(decoded(fixed_bytes(3, 4) + fixed_bytes(0xffffffff, 4) + "short")) << "costs no more than its size";
}

TEST(Hash, IsTheSameInOnePieceAndInMany) {
  for (const size_t size : {0u, 1u, 240u, 262144u, 262145u, 1000000u}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i >> 3);
    const Rope rope = Rope::of("ab").spliced(1, 0, Rope::of(text));
    EXPECT_EQ(xxh3(rope, 1, size), xxh3(std::as_bytes(std::span(text)))) << size;
  }
}

}  // namespace
}  // namespace onnxfs
