// A tensor as a serialized TensorProto, as ONNX's test vectors are, for onnx.load_tensor.
//
// The fields, by ascending number: dims (one each, unpacked), data_type, string_data where the elements are strings,
// name where there is one, raw_data for all other types (also when there are no elements), and doc_string where there
// is one. Whatever field the model holds the elements in, they are the payload here.
#pragma once

#include "core/views/tensor_content.h"

namespace onnxfs {

// The size of the message of a tensor that is not of strings. Needs no payload.
uint64_t pb_size(const TensorContent& content);

// What stands around the payload is in memory; the payload is its own extents. Strings are written when they are read;
// making this reads them once.
Rope pb(const TensorContent& content);

}  // namespace onnxfs
