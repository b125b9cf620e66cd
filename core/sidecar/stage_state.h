#pragma once

#include <cstdint>

#include "core/bytes/mutex.h"
#include "core/bytes/rope.h"
#include "core/sidecar/record.h"

namespace onnxfs {

// What a stage has in the log, and what that comes to. It may be moved to other records, under another id, while it
// is being written: who uses more than one field holds the mutex from the first to the last.
struct StageState {
  StageReference reference() const ONNXFS_REQUIRES(mutex) { return {id, records}; }

  Mutex mutex;                               // taken before the log's
  uint64_t id ONNXFS_GUARDED_BY(mutex) = 0;  // 0 while it has no records
  uint32_t records ONNXFS_GUARDED_BY(mutex) = 0;
  Rope content ONNXFS_GUARDED_BY(mutex);
};

}  // namespace onnxfs
