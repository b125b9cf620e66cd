#include "core/onnx/typed_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

// How far a read has to step at most before it is where it wants to be.
constexpr uint64_t entries_per_checkpoint = 4096;
constexpr uint32_t float6_bits = 6;

std::array<std::byte, 8> little_endian(uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value);
    value >>= 8;
  }
  return bytes;
}

// The entry that the index has proved to be there.
TypedEntries::Entry next(TypedEntries& entries) {
  TypedEntries::Entry entry;
  if (!entries.next(entry)) fail(EIO, "a typed field ended early");
  return entry;
}

// Writes `bytes` to the front of `out`, but for the first `skip` of them, and takes what it did off both.
void emit(std::span<const std::byte> bytes, uint64_t& skip, std::span<std::byte>& out) {
  const size_t from = static_cast<size_t>(std::min<uint64_t>(skip, bytes.size()));
  skip -= from;
  const size_t n = std::min(bytes.size() - from, out.size());
  std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(from), n, out.begin());
  out = out.subspan(n);
}

}  // namespace

TypedSource::TypedSource(SourcePtr file, TypedLayout layout) : file_(std::move(file)), layout_(std::move(layout)) {
  const DataType& type = *find_data_type(layout_.data_type);
  if (type.bits == float6_bits) {
    unit_entries_ = 4;
    unit_bytes_ = 3;
  } else {
    // A complex element is two entries of half its width; packed small elements fill a byte an entry.
    const uint64_t width = layout_.field.width();
    unit_bytes_ = width != 0 ? width : (type.bits + 7) / 8;
  }
  type.number == string_type ? index_strings() : index();
}

void TypedSource::index() {
  wire::Window window(file_);
  TypedEntries entries = this->entries(window);
  const DataType& type = *find_data_type(layout_.data_type);
  const bool looks = layout_.field.width() == 0 && can_be_odd(type, layout_.typed_field);
  EntryValues values;
  uint64_t count = 0;
  for (;;) {
    const TypedEntries::Position at = entries.position();
    const uint64_t skipped = looks ? entries.skip_looking(entries_per_checkpoint, layout_.typed_field, values)
                                   : entries.skip(entries_per_checkpoint);
    if (skipped == 0) break;
    checkpoints_.push_back({at, count / unit_entries_ * unit_bytes_});
    count += skipped;
  }
  require_count(count);
  if (looks) oddity_ = odd_entries(type, layout_.typed_field, layout_.field_name, layout_.elements, values);
}

void TypedSource::index_strings() {
  wire::Window window(file_);
  TypedEntries entries = this->entries(window);
  TypedEntries::Entry entry;
  uint64_t count = 0;
  uint64_t output = 0;
  for (TypedEntries::Position at = entries.position(); entries.next(entry); at = entries.position()) {
    if (count++ % entries_per_checkpoint == 0) checkpoints_.push_back({at, output});
    const uint64_t length = entry.bytes.size();
    if (length > std::numeric_limits<uint32_t>::max()) {
      fail(EBADMSG, "element {} is a string of {} bytes; no length of four bytes says that", count - 1, length);
    }
    output += string_length_prefix + length;
  }
  require_count(count);
  if (output != layout_.nbytes) fail(EBADMSG, "{} has {} bytes, not {}", layout_.field_name, output, layout_.nbytes);
}

void TypedSource::require_count(uint64_t count) const {
  if (count == layout_.entries) return;
  fail(EBADMSG, "{} has {} entries, its shape needs {}", layout_.field_name, count, layout_.entries);
}

void TypedSource::read(uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return;
  const auto after = std::ranges::upper_bound(checkpoints_, offset, {}, &Checkpoint::output);
  const Checkpoint& from = *std::prev(after);
  wire::Window window(file_);
  TypedEntries entries = this->entries(window);
  entries.go_to(from.position);
  const uint64_t skip = offset - from.output;
  if (unit_bytes_ == 0) return read_strings(window, entries, skip, out);
  entries.skip(skip / unit_bytes_ * unit_entries_);
  layout_.field.width() != 0 ? read_fixed(window, entries, skip % unit_bytes_, out)
                             : read_varints(entries, skip % unit_bytes_, out);
}

void TypedSource::read_fixed(wire::Window& window, TypedEntries& entries, uint64_t skip,
                             std::span<std::byte> out) const {
  std::array<std::byte, 8> bytes;
  while (!out.empty()) {
    const auto value = std::span(bytes).first(unit_bytes_);
    window.copy(next(entries).bytes.begin, value);
    emit(value, skip, out);
  }
}

void TypedSource::read_varints(TypedEntries& entries, uint64_t skip, std::span<std::byte> out) const {
  TypedEntries::Entry entry;
  while (!out.empty()) {
    uint64_t unit = next(entries).value;
    if (layout_.data_type == bool_type)
      unit = static_cast<uint32_t>(unit) != 0;  // an int32: what a longer varint has above is not there
    if (unit_entries_ > 1) {
      constexpr uint64_t mask = (1u << float6_bits) - 1;
      unit &= mask;
      // The last unit may be short of entries; its bits are zero, and none of its missing bytes are asked for.
      for (uint32_t i = 1; i < unit_entries_ && entries.next(entry); ++i)
        unit |= (entry.value & mask) << (float6_bits * i);
    }
    const auto bytes = little_endian(unit);
    emit(std::span(bytes).first(unit_bytes_), skip, out);
  }
}

void TypedSource::read_strings(wire::Window& window, TypedEntries& entries, uint64_t skip,
                               std::span<std::byte> out) const {
  while (!out.empty()) {
    const ByteRange text = next(entries).bytes;
    const auto prefix = little_endian(text.size());
    emit(std::span(prefix).first(string_length_prefix), skip, out);
    const uint64_t from = std::min(skip, text.size());
    skip -= from;
    const size_t n = static_cast<size_t>(std::min<uint64_t>(text.size() - from, out.size()));
    window.copy(text.begin + from, out.first(n));
    out = out.subspan(n);
  }
}

std::vector<Extent> packed_runs(const SourcePtr& file, const TypedLayout& layout, size_t most) {
  if (layout.field.width() == 0) return {};
  std::vector<Extent> runs;
  wire::Window window(file);
  for (const ByteRange piece : layout.pieces) {
    wire::Reader reader(window, piece);
    for (wire::Field field; reader.next(field);) {
      if (field.number != layout.field.number) continue;
      if (field.type == layout.field.unpacked) return {};
      if (field.type != wire::Type::bytes) continue;
      if (runs.size() == most) return {};
      runs.push_back({file, field.payload.begin, field.payload.size()});
    }
  }
  return runs;
}

}  // namespace onnxfs
