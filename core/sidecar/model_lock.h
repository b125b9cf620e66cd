#pragma once

#include "core/bytes/unique_fd.h"
#include "core/onnx/model.h"

namespace onnxfs {

// The right to edit a model, by whatever name: a flock on its file, which is only read. A sidecar's own lock (lock.h)
// keeps out those who come by the same path; this one those who come by a link to the file, by another of its names, or
// with a sidecar elsewhere. The system lets go of it when its process ends. One thread at a time.
class ModelLock {
 public:
  // EBUSY when somebody has it; ESTALE when the model's path names another file by now. Where the file system knows no
  // such locks on files that are only read (NFS), nothing is locked.
  static ModelLock take(const Model& model);

 private:
  explicit ModelLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace onnxfs
