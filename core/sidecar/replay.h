// Reading a log back when it is opened.
//
// Records are followed from blob to blob by their sequence numbers. What is damaged, or missing, is
//  * no matter, when its number is one of records that were compacted away, or known to be lost;
//  * corruption, when it was durable: when a sound record anywhere, or the base, says so of its number or of a greater
//    one;
//  * else a torn tail, from a crash or a power cut in the middle of writing: what follows it in its blob is left out.
#pragma once

#include <string>
#include <vector>

#include "core/bytes/file_source.h"
#include "core/sidecar/base.h"
#include "core/sidecar/blob.h"
#include "core/sidecar/editor.h"

namespace onnxfs {

struct ReplayedBlob {
  BlobPtr blob;
  FileIdentity identity;        // of its file, when it was read
  uint64_t end = 0;             // of what is sound in it; 0 when not even its header is
  uint64_t first_sequence = 0;  // of its sound records; 0 when it has none
  uint64_t last_sequence = 0;
};

// Records that a power cut took: [first, end).
struct LostRecords {
  uint64_t first = 0;
  uint64_t end = 0;
};

struct Replayed {
  std::vector<ReplayedBlob> blobs;
  uint64_t next_sequence = 1;
  uint64_t flushed = 0;            // all up to here is durable
  uint64_t needed_from = 1;        // what came before is compacted away
  bool compaction_is_cut = false;  // the record that says so is behind what is not whole, and goes with it
  std::vector<LostRecords> lost;   // that the log does not say itself, or not any more without what is cut
  std::vector<std::string> torn;   // a sentence for each torn tail
};

struct ReplayOptions {
  uint64_t blob_capacity = 0;
  uint64_t durable = 0;  // all records up to that number were; what is missing of them is corruption
  Base::Doubts doubts;   // of these, the bytes that were replaced have to be there
};

// Replays the log in a folder into an editor without edits. Throws EBADMSG, ENOTSUP and ESTALE as Sidecar::open.
// Never changes a file.
Replayed replay(const std::string& folder, uint64_t log_id, const ReplayOptions& options, Editor& editor);

}  // namespace onnxfs
