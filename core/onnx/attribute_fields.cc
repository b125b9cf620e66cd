#include "core/onnx/attribute_fields.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

void add_run(AttributeFields::List& list, ByteRange run, uint64_t entries) {
  list.in_one_piece = list.in_one_piece && list.entries == 0;
  list.packed = run;
  list.entries += entries;
}

void add_floats(AttributeFields::List& list, const Field& field) {
  constexpr uint64_t width = 4;
  if (field.type == Type::fixed32) {
    ++list.entries;
    list.in_one_piece = false;
  } else if (field.type == Type::bytes) {
    if (field.payload.size() % width != 0) {
      fail(EBADMSG, "corrupt at offset {}: {} bytes are no whole number of floats", field.begin, field.payload.size());
    }
    add_run(list, field.payload, field.payload.size() / width);
  }
}

void add_ints(AttributeFields::List& list, const Field& field, wire::Window& window) {
  if (field.type == Type::varint) ++list.entries;
  if (field.type == Type::bytes) {
    Reader numbers(window, field.payload);
    list.entries += numbers.skip_varints(std::numeric_limits<uint64_t>::max());
  }
}

}  // namespace

void AttributeFields::scan(wire::Window& window, ByteRange range) {
  Reader reader(window, range);
  for (Field field; reader.next(field);) {
    const ByteRange whole{field.begin, reader.offset()};
    switch (field.number) {
      case field::attribute::floats: add_floats(floats, field); continue;
      case field::attribute::ints: add_ints(ints, field, window); continue;
      case field::attribute::f:
        if (field.type == Type::fixed32) f = whole;
        continue;
      case field::attribute::i:
        if (field.type == Type::varint) i = whole;
        continue;
      case field::attribute::type:
        if (field.type == Type::varint) type = field.value;
        continue;
      default: break;
    }
    if (field.type != Type::bytes) continue;
    switch (field.number) {
      case field::attribute::name: name = field.payload; break;
      case field::attribute::s: s = whole; break;
      case field::attribute::t: tensor.push_back(field.payload); break;
      case field::attribute::g: graph.push_back(field.payload); break;
      case field::attribute::sparse_tensor: sparse_tensor.push_back(field.payload); break;
      case field::attribute::tensors: tensors.push_back(field.payload); break;
      case field::attribute::graphs: graphs.push_back(field.payload); break;
      case field::attribute::sparse_tensors: sparse_tensors.push_back(field.payload); break;
      case field::attribute::strings:
        ++strings.entries;
        strings.bytes += field.payload.size();
        strings.longest = std::max(strings.longest, field.payload.size());
        break;
      case field::attribute::ref_attr_name: is_reference = true; break;
      default: break;
    }
  }
}

}  // namespace onnxfs
