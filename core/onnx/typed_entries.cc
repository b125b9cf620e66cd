#include "core/onnx/typed_entries.h"

#include <algorithm>

namespace onnxfs {

namespace {

wire::Type unpacked_type(TypedField field) {
  switch (field) {
    case TypedField::float_data: return wire::Type::fixed32;
    case TypedField::double_data: return wire::Type::fixed64;
    case TypedField::string_data: return wire::Type::bytes;
    default: return wire::Type::varint;
  }
}

uint64_t fixed_width(TypedField field) {
  if (field == TypedField::float_data) return 4;
  if (field == TypedField::double_data) return 8;
  return 0;
}

}  // namespace

TypedEntries::TypedEntries(wire::Window& window, ByteRange message, TypedField field)
    : window_(window),
      message_end_(message.end),
      field_(field),
      unpacked_(unpacked_type(field)),
      width_(fixed_width(field)),
      at_{message.begin, 0} {}

// To the next field of this number outside of a packed run: an unpacked entry, or the begin of a run.
bool TypedEntries::step(Entry& entry, bool& packed) {
  wire::Reader reader(window_, {at_.offset, message_end_});
  for (wire::Field field; reader.next(field);) {
    if (field.number != static_cast<uint32_t>(field_)) continue;
    if (field.type == unpacked_) {
      entry = {field.value, field.payload};
      at_ = {reader.offset(), 0};
      packed = false;
      return true;
    }
    if (field.type == wire::Type::bytes && !field.payload.empty()) {
      at_ = {field.payload.begin, field.payload.end};
      packed = true;
      return true;
    }
  }
  at_ = {message_end_, 0};
  return false;
}

bool TypedEntries::next(Entry& entry) {
  if (at_.packed_end == 0) {
    bool packed = false;
    if (!step(entry, packed)) return false;
    if (!packed) return true;
  }
  if (width_ != 0) {
    entry.bytes = {at_.offset, at_.offset + width_};
    at_.offset += width_;
  } else {
    wire::Reader reader(window_, {at_.offset, at_.packed_end});
    reader.next_varint(entry.value);
    at_.offset = reader.offset();
  }
  if (at_.offset == at_.packed_end) at_.packed_end = 0;
  return true;
}

uint64_t TypedEntries::skip(uint64_t most) {
  uint64_t skipped = 0;
  Entry entry;
  while (skipped < most) {
    if (at_.packed_end == 0) {
      bool packed = false;
      if (!step(entry, packed)) break;
      if (!packed) {
        ++skipped;
        continue;
      }
    }
    if (width_ != 0) {
      const uint64_t n = std::min(most - skipped, (at_.packed_end - at_.offset) / width_);
      at_.offset += n * width_;
      skipped += n;
    } else {
      wire::Reader reader(window_, {at_.offset, at_.packed_end});
      skipped += reader.skip_varints(most - skipped);
      at_.offset = reader.offset();
    }
    if (at_.offset == at_.packed_end) at_.packed_end = 0;
  }
  return skipped;
}

}  // namespace onnxfs
