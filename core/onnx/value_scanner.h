#pragma once

#include "core/onnx/catalog_builder.h"
#include "core/onnx/root.h"

namespace onnxfs {

// Scans a file that holds values rather than a model: a tensor, sequence, optional, map or sparse tensor, nested to any
// depth. What it holds stands in the section "values": a tensor by its name; the elements of a sequence (and what an
// optional holds) as "0", "1" …, and beside them the "keys" of a map; what is nested in a section of its own.
//
// Throws Error(EBADMSG) where the file is corrupt.
void scan_values(CatalogBuilder& builder, Root root);

// Whether a map's keys may be of this type.
bool is_key_type(int32_t data_type);

}  // namespace onnxfs
