#pragma once

#include "core/onnx/catalog.h"

namespace onnxfs {

// The catalog of a file: of a model, or if `any_message` of whichever of ONNX's messages it is.
//
// Throws Error(EBADMSG) with the offset where the file is truncated or corrupt, Error(EINVAL) when it is a sound
// message but no model, EIO and ESTALE when it cannot be read. What is wrong with a single tensor is a finding.
Catalog scan_catalog(const SourcePtr& file, DataFiles files, bool any_message);

}  // namespace onnxfs
