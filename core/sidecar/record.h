// What a blob of a sidecar holds: a header, and records, one after another. All numbers are little-endian.
//
// A blob begins with 32 bytes:
//    0  8  "onnxfsbl"
//    8  4  the version of the format: 1
//   12  4  the blob's number, as in its name
//   16  8  the log's id: a random number that all blobs of a sidecar have, and its base.json
//   24  8  XXH3-64 of the 24 bytes before
//
// A record is a header of 80 bytes, then `length` bytes, then zeros up to a multiple of 8:
//    0  4  "oxr" and a byte of 1
//    4  4  its type
//    8  4  length
//   12  4  tensor: the index in the catalog; of a staged record, how many records of its stage came before
//   16  8  message: where the tensor's message begins in the model file, which must agree with the index; of a staged
//          record, the id of its stage
//   24  8  offset
//   32  8  sequence: each record has the number of the one before it plus one, over all blobs; the first has 1
//   40  8  flushed: all records up to this number were durable when this one was appended
//   48  8  time of the edit, in nanoseconds since 1970
//   56  8  base hash: XXH3-64 of the bytes of the model that the record takes the place of
//   64  8  XXH3-64 of the `length` bytes
//   72  8  XXH3-64, with the log's id for its seed, of the 72 bytes before: so a copy of a record of another log, in
//   the
//          bytes of a tensor, is not taken for one of this log
//
// The id of a stage is the sequence number of its first record, in which it stands as 0.
//
// The types, and what their fields mean where they differ:
//   1  write         the bytes are the tensor's at offset; the base hash is of the base's bytes there
//   2  staged write  the bytes are the stage's at offset; what lies between its end and offset becomes zeros
//   3  staged resize the stage has the size offset; what is new of it is zeros
//   4  replace       a stage of the size offset becomes the tensor's content; the bytes are its id and how many records
//                    it had, 8 bytes each; the base hash is of the whole payload
//   5  annotate      the bytes are a shape, documentation, or both (annotation.h)
//   6  revert        the tensor is as in the base
//   7  mark          changes nothing: what came before it is durable
//   8  compacted     the records before the number offset have no effect any more, and may be missing
//   9  lost          the records from the number offset to the number message, exclusive, did not survive a power cut,
//                    or need one that did not: they may be missing, and have no effect
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace onnxfs {

constexpr uint32_t log_version = 1;

// The first bytes of a blob.
constexpr std::string_view blob_magic = "onnxfsbl";

// No record has more bytes than this.
constexpr uint32_t largest_record = 64 << 20;

enum class RecordType : uint32_t {
  write = 1,
  staged_write = 2,
  staged_resize = 3,
  replace = 4,
  annotate = 5,
  revert = 6,
  mark = 7,
  compacted = 8,
  lost = 9,
};

// A record but for its bytes. A plain value.
struct Record {
  static constexpr size_t header_size = 80;
  using Header = std::array<std::byte, header_size>;

  RecordType type = RecordType::mark;
  uint32_t length = 0;
  uint32_t tensor = 0;
  uint64_t message = 0;
  uint64_t offset = 0;
  uint64_t sequence = 0;
  uint64_t flushed = 0;
  int64_t time = 0;
  uint64_t base_hash = 0;
  uint64_t bytes_hash = 0;

  // What it takes in a blob.
  uint64_t size() const noexcept { return size_for(length); }
  static uint64_t size_for(uint64_t length) noexcept { return header_size + (length + 7) / 8 * 8; }

  bool staged() const noexcept { return type == RecordType::staged_write || type == RecordType::staged_resize; }
  uint64_t stage_id() const noexcept { return message == 0 ? sequence : message; }  // of a staged record

  Header encode(uint64_t log_id) const;
  // Nothing when the bytes are no header of a record of this log.
  static std::optional<Record> decode(std::span<const std::byte, header_size> header, uint64_t log_id);
};

// The bytes of a replace record.
struct StageReference {
  static constexpr size_t encoded_size = 16;

  uint64_t id = 0;       // 0 when it has no records
  uint64_t records = 0;  // how many it has

  std::array<std::byte, encoded_size> encode() const;
  static StageReference decode(std::span<const std::byte, encoded_size> bytes);
};

// The header of a blob.
struct BlobHeader {
  static constexpr size_t encoded_size = 32;

  uint32_t version = log_version;
  uint32_t number = 0;
  uint64_t log_id = 0;

  std::array<std::byte, encoded_size> encode() const;
  // Nothing when the bytes are no header of a blob, of whatever version.
  static std::optional<BlobHeader> decode(std::span<const std::byte, encoded_size> bytes);
};

}  // namespace onnxfs
