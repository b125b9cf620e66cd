#pragma once

#include <memory>
#include <vector>

#include "core/bytes/mutex.h"
#include "core/sidecar/sidecar.h"
#include "fs/live_tree.h"

namespace onnxfs {

// What the files in live/ hold: the model as it would be committed now. Each is put together when it is first asked for
// after an edit; without edits it is the file on disk. Any number of threads may use one.
class LiveFiles {
 public:
  LiveFiles(std::shared_ptr<Sidecar> sidecar, const LiveTree& tree);

  // By the number of the file in the tree.
  Rope content(uint32_t file) const;

  // The model's file's, or the time of the last edit.
  timespec changed_at() const;

  // Of which edits `content` is, to be compared.
  uint64_t version() const noexcept { return sidecar_->edits().version(); }

 private:
  struct Made {
    std::optional<uint64_t> version;
    Rope content;
  };

  std::shared_ptr<Sidecar> sidecar_;
  const LiveTree& tree_;
  mutable Mutex mutex_;
  mutable std::vector<Made> made_ ONNXFS_GUARDED_BY(mutex_);  // by file
  mutable std::optional<uint64_t> changed_version_ ONNXFS_GUARDED_BY(mutex_);
  mutable timespec changed_at_ ONNXFS_GUARDED_BY(mutex_) = {};
};

}  // namespace onnxfs
