#pragma once

#include "core/bytes/rope.h"
#include "core/onnx/tensor.h"
#include "core/onnx/typed_entries.h"

namespace onnxfs {

// The payload of a tensor as entries of a repeated field, each by itself, which is how string_data, the plain lists of
// an attribute and the keys of a map are declared:
//  * STRING: of each element the bytes without the length before them
//  * FLOAT: four bytes
//  * integers: a varint of 64 bits; one of a smaller type with its sign, if that has one
//
// Reads the payload, and keeps what it encodes in memory, but for long strings, which stay where they are. Throws
// Error(EINVAL) when the payload is not of so many strings.
Rope encode_list(const Tensor& tensor, EntryField field, const Rope& payload);

}  // namespace onnxfs
