#pragma once

#include <memory>
#include <string>

#include "core/bytes/file_source.h"
#include "core/views/export_plan.h"
#include "core/views/live_model.h"

namespace onnxfs {

// Scans a model file that was written with edits, and proves that it has the tensors of the model, in its order, with
// the edits and nothing else changed: names, types, shapes, documentation, payloads, and where external ones stand, as
// they stood, or as relocations and moves say.
// `content` is the rope that was written; bytes that it has from the model's own file are not read again. The data
// files may yet be missing.
//
// Throws Error(EIO) with the tensor that is not as it should be; nothing should ever make it.
void require_edits_in(const std::shared_ptr<const FileSource>& written, const Rope& content, const Model& model,
                      const Edits& edits, const Relocations& relocations, const Moves& moves);

}  // namespace onnxfs
