#pragma once

#include <cstdint>
#include <mutex>

#include "core/bytes/rope.h"
#include "core/sidecar/record.h"

namespace onnxfs {

// What a stage has in the log, and what that comes to. It may be moved to other records, under another id, while it
// is being written: who uses more than one field holds the mutex from the first to the last.
struct StageState {
  StageReference reference() const { return {id, records}; }

  std::mutex mutex;  // guards what follows; taken before the log's
  uint64_t id = 0;   // 0 while it has no records
  uint32_t records = 0;
  Rope content;
};

}  // namespace onnxfs
