#include "core/sidecar/blob_walker.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/bytes/range.h"

namespace onnxfs {

namespace {

constexpr size_t buffer_size = 64 * 1024;

}  // namespace

BlobWalker::BlobWalker(const Blob& blob, uint64_t end, uint64_t log_id)
    : blob_(blob), end_(end), log_id_(log_id), buffer_(std::make_unique_for_overwrite<std::byte[]>(buffer_size)) {}

// Fewer bytes than asked for where the blob ends.
std::span<const std::byte> BlobWalker::at(uint64_t offset, size_t length) {
  if (offset >= end_) return {};
  length = std::min<uint64_t>(length, end_ - offset);
  const bool buffered = offset >= buffered_at_ && fits(offset - buffered_at_, length, buffered_);
  if (!buffered) {
    buffered_at_ = offset;
    buffered_ = blob_.read_some(offset, {buffer_.get(), std::min<uint64_t>(buffer_size, end_ - offset)});
    length = std::min(length, buffered_);
  }
  return {buffer_.get() + (offset - buffered_at_), length};
}

std::optional<BlobHeader> BlobWalker::header() {
  const auto bytes = at(0, BlobHeader::encoded_size);
  if (bytes.size() < BlobHeader::encoded_size) return std::nullopt;
  const auto header = BlobHeader::decode(bytes.first<BlobHeader::encoded_size>());
  if (header && header->version != log_version) {
    fail(ENOTSUP, "{} was made by another version of onnxfs, in format {}", blob_.path(), header->version);
  }
  return header;
}

std::optional<Record> BlobWalker::record_at(uint64_t offset) {
  const auto bytes = at(offset, Record::header_size);
  if (bytes.size() < Record::header_size) return std::nullopt;
  return Record::decode(bytes.first<Record::header_size>(), log_id_);
}

BlobWalker::Found BlobWalker::next() {
  offset_ = next_;
  if (offset_ >= end_) return Found::end;
  const auto record = record_at(offset_);
  if (!record || !fits(offset_, record->size(), end_)) return Found::damage;
  record_ = *record;
  next_ = offset_ + record->size();
  return Found::record;
}

bool BlobWalker::bytes_are_sound() {
  if (record_.length <= buffer_size) {
    const auto bytes = at(bytes_offset(), record_.length);
    return bytes.size() == record_.length && xxh3(bytes) == record_.bytes_hash;
  }
  // The blob holds the bytes, but for a file that is cut while it is read; the walker outlives the rope.
  const SourcePtr source(std::shared_ptr<const void>(), &blob_);
  return xxh3(Rope({Extent{source, bytes_offset(), record_.length}})) == record_.bytes_hash;
}

std::vector<std::byte> BlobWalker::bytes() {
  std::vector<std::byte> result(record_.length);
  blob_.read(bytes_offset(), result);
  return result;
}

bool BlobWalker::find_header() {
  for (uint64_t offset = offset_ + 8; offset < end_; offset += 8) {
    const auto record = record_at(offset);
    if (!record) continue;
    record_ = *record;
    offset_ = offset;
    return true;
  }
  return false;
}

}  // namespace onnxfs
