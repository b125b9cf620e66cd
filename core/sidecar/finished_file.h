#pragma once

#include <memory>
#include <string>

#include "core/bytes/file_source.h"
#include "core/bytes/rope.h"
#include "core/sidecar/inode.h"

namespace onnxfs {

// The file that is called `path` (and labelled so), when it has these bytes already: one who was killed before the
// model was in place too leaves such a data file. Nothing when there is none, when it is a link or anything else, or
// cannot be read. As long as it is held, it has a lock by which nobody takes it away again: EBUSY when another process
// has yet to say that it stays. Reads the file if it has the right size.
std::shared_ptr<const FileSource> finished_file(const std::string& path, const Rope& content);

}  // namespace onnxfs
