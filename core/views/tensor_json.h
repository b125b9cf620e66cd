#pragma once

#include <string>
#include <string_view>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"

namespace onnxfs {

// The JSON sibling of a tensor, with its edits (null: none). The keys name, kind, scope, dtype, onnx_type, bits, shape,
// elements, nbytes, numpy, storage, file, offset, length, doc_string, edited and problem are there always, in this
// order; null where there is no answer. Then, where they apply: data_type (the number, of a type that has no name),
// name_base64 (of a name that is not UTF-8), checksum (what external data claims of its file), node and attribute (that
// hold the tensor), dense_shape (of the sparse tensor that it is a part of). Throws Error as reading the model file
// does.
std::string tensor_json(const Model& model, uint32_t tensor, const TensorEdit* edit = nullptr);

// The `shape` of the JSON, and of index.tsv and the extended attribute: "[64,3,7,7]".
std::string shape_json(const Tensor& tensor, const TensorEdit* edit = nullptr);

// The `nbytes` of the JSON, which an edit changes for strings only; and its `storage`: "sidecar" of an edited payload.
uint64_t payload_size(const Tensor& tensor, const TensorEdit* edit);
std::string_view storage_word(const Tensor& tensor, const TensorEdit* edit);

// Whether `file`, `offset` and `length` say where the payload stands, if the tensor is sound: in one piece, unedited.
bool has_place(const Tensor& tensor, const TensorEdit* edit);

// The `dtype` as a word: "float32"; "null" for a type without a name.
std::string_view dtype_word(const Tensor& tensor);

}  // namespace onnxfs
