#include "core/onnx/typed_layout.h"

#include "core/onnx/schema.h"

namespace onnxfs {

namespace {

// Of an AttributeProto. A single value is a tensor without dimensions.
EntryField attribute_field(const Tensor& tensor) {
  const bool single = tensor.dims.empty();
  switch (tensor.data_type) {
    case float_type: return {single ? field::attribute::f : field::attribute::floats, wire::Type::fixed32};
    case string_type: return {single ? field::attribute::s : field::attribute::strings, wire::Type::bytes};
    default: return {single ? field::attribute::i : field::attribute::ints, wire::Type::varint};
  }
}

// Of a MapProto.
EntryField keys_field(const Tensor& tensor) {
  if (tensor.data_type == string_type) return {field::map::string_keys, wire::Type::bytes};
  return {field::map::keys, wire::Type::varint};
}

}  // namespace

TypedLayout typed_layout(const Tensor& tensor, std::span<const ByteRange> pieces) {
  TypedLayout layout;
  layout.pieces.assign(pieces.begin(), pieces.end());
  layout.field_name = storage_name(tensor);
  layout.data_type = tensor.data_type;
  layout.elements = tensor.elements;
  layout.nbytes = tensor.nbytes;
  if (tensor.storage == Storage::typed) {
    layout.typed_field = tensor.type()->typed_field;
    layout.field = EntryField::of(layout.typed_field);
    layout.entries = typed_entries(*tensor.type(), tensor.elements);
  } else {
    layout.field = tensor.storage == Storage::keys ? keys_field(tensor) : attribute_field(tensor);
    layout.entries = tensor.elements;
  }
  return layout;
}

}  // namespace onnxfs
