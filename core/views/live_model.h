// The model as it would be committed: a rope for its file, and for each of its data files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/bytes/patch.h"
#include "core/onnx/edit.h"
#include "core/onnx/model.h"

namespace onnxfs {

// New locations for data files, by their index in the catalog: what tensors in them then say, with their offsets kept.
using Relocations = std::map<uint32_t, std::string>;

// The model's file with its edits: ranges of the original, but for what was edited. Without edits, the original.
//
//  * A payload that stands in the file in the payload's own form (raw_data, packed floats and doubles, a single float)
//    is replaced where it stands.
//  * One in another typed field becomes raw_data in its place; strings stay string_data; a plain list of an attribute,
//    and the keys of a map, stay in their field in the form that the field is declared in.
//  * Dimensions and documentation are written anew, as first in their message as they were.
//  * The lengths of all messages around a change of size are corrected; nothing else is written anew. Unknown fields,
//    order, and odd encodings stay. `ir_version` is never touched.
//  * Of what is written anew, the bits of a last byte that packed elements leave unused are zero.
//
// Payloads in data files are not in this file, and change nothing in it. Never reads a payload but of numbers and
// strings that stay in a list, and last bytes of packed elements. Throws Error: EINVAL for edits that no file can hold
// (a tensor stands at a fixed place in the model's own file, which a change of size would move; a node names a data
// file that is to move, which no tensor's location is), EIO for an edit of a broken tensor, and as reading does.
Rope live_model(const Model& model, const Edits& edits, const Relocations& relocations = {});

// The same for a data file of the catalog. One that is the model file itself is as live_model says.
Rope live_data_file(const Model& model, uint32_t data_file, const Edits& edits);

// What the edits change in place in the model's file, or in a data file, in order of their ranges, each of its old
// size; nothing when they change the size or the structure of the model's file. Only what was written over is in them,
// not the rest of its tensor.
std::optional<std::vector<Patch>> model_patches(const Model& model, const Edits& edits);
std::vector<Patch> data_file_patches(const Model& model, uint32_t data_file, const Edits& edits);

}  // namespace onnxfs
