#pragma once

#include <memory>
#include <set>

#include "core/sidecar/log.h"

namespace onnxfs {

// One attempt to give back the space of records that were overwritten: what still counts of the blobs that there are is
// appended anew, made durable, and then those blobs are said to be of no effect any more and are removed. So at each
// moment the log says the same.
//
// The log's lock is held for the append of a piece at a time, and only if the piece is then what the tensor holds:
// else there was an edit in the meantime, and it is looked at again. A stage that is being written becomes another one,
// with the same content; who uses it waits for that, and others do not.
class Compaction {
 public:
  explicit Compaction(std::shared_ptr<SidecarLog> log);

  // Whether there was anything to gain. As Sidecar::compact. Any number of threads; one works, and others return.
  bool run();

 private:
  // What counts of the victims would take in new records.
  uint64_t needed_bytes() const;
  bool is_old(const Extent& extent) const;
  void move(StageState& stage);
  void move(uint32_t tensor);
  void move_pieces(uint32_t tensor);
  void move_whole(uint32_t tensor);
  void move_annotation(uint32_t tensor);

  void choose() ONNXFS_REQUIRES(log_->records().mutex());
  std::vector<std::shared_ptr<StageState>> stages() const;

  std::shared_ptr<SidecarLog> log_;
  RecordLog::Victims victims_;
  std::set<const Source*> old_;  // the victims' blobs
};

}  // namespace onnxfs
