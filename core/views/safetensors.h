// All tensors of a model as one safetensors file, by the strict rules of its reference reader:
//
//     N, the length of the header      8 bytes, little-endian; a multiple of 8, and at most 100,000,000
//     the header                       a JSON object, padded with spaces behind it
//     the tensors' bytes               one after another, without holes, up to the file's end
//
// The header has a member a tensor, "KEY": {"dtype": "F32", "shape": [2, 3], "data_offsets": [BEGIN, END]}, with
// offsets from the end of the header. Its first member is "__metadata__", of strings, when there is something that the
// format has no word for:
//     "dtype:KEY", "shape:KEY"    what a tensor really is whose bytes are U8 here: packed as its payload is; "null" for
//                                 the dtype of one that is unknown
//     "problem:KEY"               why a tensor, named by its path, is broken, and so is not in the file
// Which tensors have which key, and which order, is in safetensors_entries.h.
#pragma once

#include "core/onnx/edit.h"
#include "core/views/listing.h"

namespace onnxfs {

// The file of a model with its edits. Memory and time follow the number of tensors: no payload is read. A tensor that
// only reading shows to be broken is in it, and reading its bytes gives EIO; in a file made after that it is left out.
// Throws Error(EFBIG) when the header would be longer than the format allows.
Rope safetensors(const std::shared_ptr<const Model>& model, const Edits& edits, const PathOf& path_of);

}  // namespace onnxfs
