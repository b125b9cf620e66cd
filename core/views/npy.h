// A tensor as a .npy file (npy_header.h), for np.load, also with mmap_mode, and np.save.
//
// The elements are the payload, but for packed ones, which are one to a byte (sub_byte.h). What numpy has no type for
// is the unsigned integer of its width; int4 and int2 are '|i1'. A tensor of an unknown type is a row of bytes.
#pragma once

#include "core/views/tensor_content.h"

namespace onnxfs {

// All tensors have one but those of strings, for which numpy has only pickles.
bool has_npy(const Tensor& tensor);

// Both of a tensor that has one. The size needs no payload. Throws Error(EOVERFLOW) for what no file can hold.
uint64_t npy_size(const TensorContent& content);
Rope npy(const TensorContent& content);

// The payload that a .npy file holds for a tensor. The file has the tensor's type, by the name that `npy` gives it or
// by that which ml_dtypes gives to types that numpy lacks (as '<V2'), and as many elements as the tensor, in any shape.
// Throws Error(EINVAL) when it has not, when an element of a packed type is out of its range, and when the bytes are no
// .npy file. An array in Fortran's order is permuted when the payload is read; nothing is copied.
Rope parse_npy(const Rope& file, const Tensor& tensor);

}  // namespace onnxfs
