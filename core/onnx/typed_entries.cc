#include "core/onnx/typed_entries.h"

#include <algorithm>

#include "core/wire/varints.h"

namespace onnxfs {

EntryField EntryField::of(TypedField field) {
  const auto number = static_cast<uint32_t>(field);
  switch (field) {
    case TypedField::float_data: return {number, wire::Type::fixed32};
    case TypedField::double_data: return {number, wire::Type::fixed64};
    case TypedField::string_data: return {number, wire::Type::bytes};
    default: return {number, wire::Type::varint};
  }
}

uint64_t EntryField::width() const noexcept {
  if (unpacked == wire::Type::fixed32) return 4;
  if (unpacked == wire::Type::fixed64) return 8;
  return 0;
}

TypedEntries::TypedEntries(wire::Window& window, std::span<const ByteRange> pieces, EntryField field)
    : window_(window), pieces_(pieces), field_(field), at_{0, pieces.front().begin, 0} {}

// To the next field of this number outside of a packed run: an unpacked entry, or the begin of a run.
bool TypedEntries::step(Entry& entry, bool& packed) {
  for (;;) {
    wire::Reader reader(window_, {at_.offset, pieces_[at_.piece].end});
    for (wire::Field field; reader.next(field);) {
      if (field.number != field_.number) continue;
      if (field.type == field_.unpacked) {
        entry = {field.value, field.payload};
        at_.offset = reader.offset();
        packed = false;
        return true;
      }
      if (field.type == wire::Type::bytes && !field.payload.empty()) {
        at_ = {at_.piece, field.payload.begin, field.payload.end};
        packed = true;
        return true;
      }
    }
    at_.offset = pieces_[at_.piece].end;
    if (at_.piece + 1 == pieces_.size()) return false;
    at_ = {at_.piece + 1, pieces_[at_.piece + 1].begin, 0};
  }
}

bool TypedEntries::next(Entry& entry) {
  if (at_.packed_end == 0) {
    bool packed = false;
    if (!step(entry, packed)) return false;
    if (!packed) return true;
  }
  if (const uint64_t width = field_.width(); width != 0) {
    entry.bytes = {at_.offset, at_.offset + width};
    at_.offset += width;
  } else {
    wire::Reader reader(window_, {at_.offset, at_.packed_end});
    reader.next_varint(entry.value);
    at_.offset = reader.offset();
  }
  if (at_.offset == at_.packed_end) at_.packed_end = 0;
  return true;
}

// `look` is called with the entries outside of packed runs; skip_packed(most) skips some of the run that has begun, and
// returns how many.
template <typename Look, typename SkipPacked>
uint64_t TypedEntries::skip_by(uint64_t most, Look look, SkipPacked skip_packed) {
  uint64_t skipped = 0;
  Entry entry;
  while (skipped < most) {
    if (at_.packed_end == 0) {
      bool packed = false;
      if (!step(entry, packed)) break;
      if (!packed) {
        look(entry);
        ++skipped;
        continue;
      }
    }
    skipped += skip_packed(most - skipped);
    if (at_.offset == at_.packed_end) at_.packed_end = 0;
  }
  return skipped;
}

uint64_t TypedEntries::skip(uint64_t most) {
  const auto skip_packed = [this](uint64_t wanted) -> uint64_t {
    if (const uint64_t width = field_.width(); width != 0) {
      const uint64_t n = std::min(wanted, (at_.packed_end - at_.offset) / width);
      at_.offset += n * width;
      return n;
    }
    wire::Reader reader(window_, {at_.offset, at_.packed_end});
    const uint64_t n = reader.skip_varints(wanted);
    at_.offset = reader.offset();
    return n;
  };
  return skip_by(
      most, [](const Entry&) {}, skip_packed);
}

uint64_t TypedEntries::skip_looking(uint64_t most, TypedField typed_field, EntryValues& values) {
  const auto look = [&](uint64_t varint) { values.add(entry_number(typed_field, varint)); };
  const auto skip_packed = [&](uint64_t wanted) {
    return wire::visit_varints(window_, at_.offset, at_.packed_end, wanted, look);
  };
  return skip_by(
      most, [&](const Entry& entry) { look(entry.value); }, skip_packed);
}

}  // namespace onnxfs
