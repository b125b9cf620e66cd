#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/sidecar/blob.h"
#include "core/sidecar/record.h"

namespace onnxfs {

// Steps through the records of a blob, up to a given end of its file, and trusts nothing in it. One thread at a time.
class BlobWalker {
 public:
  // What stands where a record is expected.
  enum class Found { record, end, damage };

  BlobWalker(const Blob& blob, uint64_t end, uint64_t log_id);

  // The blob's header, if it has a sound one. ENOTSUP when another version wrote it.
  std::optional<BlobHeader> header();

  // Looks at the next record: at its header, and whether there is room for its bytes.
  Found next();
  const Record& record() const noexcept { return record_; }
  uint64_t offset() const noexcept { return offset_; }  // of the record, or of the damage
  uint64_t bytes_offset() const noexcept { return offset_ + Record::header_size; }

  // Reads the record's bytes, and compares them with its hash.
  bool bytes_are_sound();
  // Those of a small record.
  std::vector<std::byte> bytes();

  // After damage: the next sound header of a record, wherever it stands.
  bool find_header();

 private:
  std::span<const std::byte> at(uint64_t offset, size_t length);
  std::optional<Record> record_at(uint64_t offset);

  const Blob& blob_;
  uint64_t end_;
  uint64_t log_id_;
  uint64_t offset_ = 0;
  uint64_t next_ = BlobHeader::encoded_size;
  Record record_;

  std::unique_ptr<std::byte[]> buffer_;
  uint64_t buffered_at_ = 0;
  size_t buffered_ = 0;
};

}  // namespace onnxfs
