#pragma once

#include <string>

#include "core/bytes/disk.h"

namespace onnxfs {

// Drops all edits of a model, and what an interrupted commit of them left, whatever the model is by now. Throws Error:
// EBUSY when a process is making edits, ENOENT when there are none, EINPROGRESS when a commit in place was interrupted,
// after which only the edits can make the model whole.
void discard_all(const std::string& model_path, const std::string& sidecar, Disk& disk = Disk::real());

}  // namespace onnxfs
