// The files that list tensors by their paths in the mount. Where a tensor stands there is not for core to know.
#pragma once

#include <functional>
#include <string>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"

namespace onnxfs {

// The path of a tensor relative to the mount's root, without the suffix: "initializers/encoder/W".
using PathOf = std::function<std::string(uint32_t tensor)>;

// index.tsv: a header row, then a row a tensor in file order: path (of its .bin), dtype, shape, nbytes, storage.
std::string index_tsv(const Model& model, const PathOf& path_of, const Edits& edits = {});

// What an edit changes of its tensor: "payload", "shape", "doc_string", or several with commas between them; and when
// it last did: "2026-01-31T12:00:00Z".
std::string changed_parts(const TensorEdit& edit);
std::string changed_at(const TensorEdit& edit);

// The same parts as a JSON array on one line: ["payload", "shape"].
std::string changed_json(const TensorEdit& edit);

// edits.tsv: a header row, then a row an edited tensor in file order: path (of its .bin), changed parts, and when.
std::string edits_tsv(const PathOf& path_of, const Edits& edits);

// A finding as a line, without its end: the tensor's path, what is wrong, and the offset of its message.
std::string problem_line(const Finding& finding, const Model& model, const PathOf& path_of);

// problems.txt: a line a finding, as known so far. Empty when nothing is.
std::string problems_txt(const Model& model, const PathOf& path_of);

}  // namespace onnxfs
