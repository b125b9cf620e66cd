#include "core/sidecar/record.h"

#include <xxhash.h>

#include <cstring>

#include "core/sidecar/little_endian.h"

namespace onnxfs {

namespace {

constexpr uint32_t record_magic = 'o' | 'x' << 8 | 'r' << 16 | 1 << 24;

bool is_type(uint32_t number) noexcept {
  return number >= static_cast<uint32_t>(RecordType::write) && number <= static_cast<uint32_t>(RecordType::lost);
}

}  // namespace

Record::Header Record::encode(uint64_t log_id) const {
  Header header;
  std::byte* to = header.data();
  store_little_endian(record_magic, to);
  store_little_endian(static_cast<uint32_t>(type), to + 4);
  store_little_endian(length, to + 8);
  store_little_endian(tensor, to + 12);
  store_little_endian(message, to + 16);
  store_little_endian(offset, to + 24);
  store_little_endian(sequence, to + 32);
  store_little_endian(flushed, to + 40);
  store_little_endian(time, to + 48);
  store_little_endian(base_hash, to + 56);
  store_little_endian(bytes_hash, to + 64);
  store_little_endian(uint64_t{XXH3_64bits_withSeed(to, 72, log_id)}, to + 72);
  return header;
}

std::optional<Record> Record::decode(std::span<const std::byte, header_size> header, uint64_t log_id) {
  const std::byte* from = header.data();
  // The magic first: scanning through what is no record asks this for every eight bytes.
  if (load_little_endian<uint32_t>(from) != record_magic) return std::nullopt;
  if (load_little_endian<uint64_t>(from + 72) != XXH3_64bits_withSeed(from, 72, log_id)) return std::nullopt;
  const auto type = load_little_endian<uint32_t>(from + 4);
  Record record;
  record.length = load_little_endian<uint32_t>(from + 8);
  if (!is_type(type) || record.length > largest_record) return std::nullopt;
  record.type = static_cast<RecordType>(type);
  record.tensor = load_little_endian<uint32_t>(from + 12);
  record.message = load_little_endian<uint64_t>(from + 16);
  record.offset = load_little_endian<uint64_t>(from + 24);
  record.sequence = load_little_endian<uint64_t>(from + 32);
  record.flushed = load_little_endian<uint64_t>(from + 40);
  record.time = load_little_endian<int64_t>(from + 48);
  record.base_hash = load_little_endian<uint64_t>(from + 56);
  record.bytes_hash = load_little_endian<uint64_t>(from + 64);
  return record;
}

std::array<std::byte, StageReference::encoded_size> StageReference::encode() const {
  std::array<std::byte, encoded_size> bytes;
  store_little_endian(id, bytes.data());
  store_little_endian(records, bytes.data() + 8);
  return bytes;
}

StageReference StageReference::decode(std::span<const std::byte, encoded_size> bytes) {
  return {load_little_endian<uint64_t>(bytes.data()), load_little_endian<uint64_t>(bytes.data() + 8)};
}

std::array<std::byte, BlobHeader::encoded_size> BlobHeader::encode() const {
  std::array<std::byte, encoded_size> bytes;
  std::memcpy(bytes.data(), blob_magic.data(), blob_magic.size());
  store_little_endian(version, bytes.data() + 8);
  store_little_endian(number, bytes.data() + 12);
  store_little_endian(log_id, bytes.data() + 16);
  store_little_endian(uint64_t{XXH3_64bits(bytes.data(), 24)}, bytes.data() + 24);
  return bytes;
}

std::optional<BlobHeader> BlobHeader::decode(std::span<const std::byte, encoded_size> bytes) {
  if (std::memcmp(bytes.data(), blob_magic.data(), blob_magic.size()) != 0) return std::nullopt;
  if (load_little_endian<uint64_t>(bytes.data() + 24) != XXH3_64bits(bytes.data(), 24)) return std::nullopt;
  BlobHeader header;
  header.version = load_little_endian<uint32_t>(bytes.data() + 8);
  header.number = load_little_endian<uint32_t>(bytes.data() + 12);
  header.log_id = load_little_endian<uint64_t>(bytes.data() + 16);
  return header;
}

}  // namespace onnxfs
