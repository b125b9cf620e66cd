#pragma once

#include <vector>

#include "core/onnx/tensor.h"
#include "core/onnx/typed_entries.h"

namespace onnxfs {

// How the payload of a tensor stands in a repeated field of its message.
struct TypedLayout {
  std::vector<ByteRange> pieces;  // of the message
  EntryField field;
  TypedField typed_field = TypedField::none;  // of a TensorProto
  std::string_view field_name;                // for messages
  int32_t data_type = undefined_type;
  uint64_t elements = 0;
  uint64_t entries = 0;  // that the shape needs
  uint64_t nbytes = 0;   // of the payload
};

// Of a tensor whose storage is typed, attribute or keys, and whose message stands in `pieces`.
TypedLayout typed_layout(const Tensor& tensor, std::span<const ByteRange> pieces);

}  // namespace onnxfs
