#include "core/onnx/tensor_fields.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

// Runs of varints up to this size are counted while scanning, since the window holds them anyway; a longer one is
// left alone until it is read.
constexpr uint64_t longest_counted = 2048;
constexpr uint64_t longest_varint = 10;

void scan_fixed(TypedOccurrences& typed, const Field& field, Type unpacked, uint64_t width) {
  if (field.type == Type::bytes) {
    if (field.payload.size() % width != 0) {
      fail(EBADMSG, "corrupt at offset {}: {} bytes are no whole number of {}-byte entries", field.begin,
           field.payload.size(), width);
    }
    if (typed.packed++ == 0) typed.first_packed = field.payload;
    typed.fewest += field.payload.size() / width;
  } else if (field.type == unpacked) {
    ++typed.unpacked;
    ++typed.fewest;
  }
  typed.most = typed.fewest;
}

void scan_varints(TypedOccurrences& typed, const Field& field, wire::Window& window) {
  const auto typed_field = static_cast<TypedField>(field.number);
  if (field.type == Type::varint) {
    typed.values.add(entry_number(typed_field, field.value));
    ++typed.unpacked;
    ++typed.fewest;
    ++typed.most;
  } else if (field.type == Type::bytes) {
    if (typed.packed++ == 0) typed.first_packed = field.payload;
    const uint64_t size = field.payload.size();
    if (size <= longest_counted) {
      Reader numbers(window, field.payload);
      uint64_t value;
      for (; numbers.next_varint(value); ++typed.fewest) {
        ++typed.most;
        typed.values.add(entry_number(typed_field, value));
      }
    } else {
      typed.fewest += (size + longest_varint - 1) / longest_varint;
      typed.most += size;
    }
  }
}

void scan_entry(std::vector<TensorFields::Entry>& entries, wire::Window& window, const Field& field) {
  TensorFields::Entry entry;
  entry.begin = field.begin;
  Reader reader(window, field.payload);
  for (Field part; reader.next(part);) {
    if (part.is(field::entry::key, Type::bytes)) entry.key = part.payload;
    if (part.is(field::entry::value, Type::bytes)) entry.value = part.payload;
  }
  entries.push_back(entry);
}

}  // namespace

void TensorFields::clear() {
  dims.clear();
  data_type = undefined_type;
  name = {};
  raw_data.reset();
  doc_string.reset();
  external_data.clear();
  external = false;
  segment = false;
  external_at = 0;
  typed.fill({});
}

void TensorFields::scan(wire::Window& window, ByteRange range) {
  Reader reader(window, range);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case field::tensor::dims: wire::read_integers(window, field, dims); break;
      case field::tensor::data_type:
        if (field.type == Type::varint) data_type = static_cast<int32_t>(field.value);
        break;
      case field::tensor::segment:
        if (field.type == Type::bytes) segment = true;
        break;
      case field::tensor::float_data: scan_fixed(typed[field.number], field, Type::fixed32, 4); break;
      case field::tensor::double_data: scan_fixed(typed[field.number], field, Type::fixed64, 8); break;
      case field::tensor::int32_data:
      case field::tensor::int64_data:
      case field::tensor::uint64_data: scan_varints(typed[field.number], field, window); break;
      case field::tensor::string_data:
        if (field.type == Type::bytes) {
          TypedOccurrences& strings = typed[field.number];
          strings.most = ++strings.fewest;
          strings.bytes += field.payload.size();
          strings.longest = std::max(strings.longest, field.payload.size());
        }
        break;
      case field::tensor::name:
        if (field.type == Type::bytes) name = field.payload;
        break;
      case field::tensor::raw_data:
        if (field.type == Type::bytes) raw_data = field.payload;
        break;
      case field::tensor::doc_string:
        if (field.type == Type::bytes) doc_string = field.payload;
        break;
      case field::tensor::external_data:
        if (field.type == Type::bytes) scan_entry(external_data, window, field);
        break;
      case field::tensor::data_location:
        // An enumeration: a number that it does not know counts as an unknown field.
        if (field.type == Type::varint && static_cast<int32_t>(field.value) >> 1 == 0) {
          external = (field.value & 1) != 0;
          external_at = field.begin;
        }
        break;
      default: break;
    }
  }
}

}  // namespace onnxfs
