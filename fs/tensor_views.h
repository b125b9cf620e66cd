#pragma once

#include <memory>
#include <unordered_map>

#include "core/bytes/mutex.h"
#include "core/sidecar/sidecar.h"
#include "core/views/digest_cache.h"
#include "fs/layout.h"

namespace onnxfs {

// What the files hold that show a tensor of a mount, with its edits: by the tensor, and the facet of such a file. Any
// number of threads may use one.
class TensorViews {
 public:
  explicit TensorViews(std::shared_ptr<Sidecar> sidecar) : sidecar_(std::move(sidecar)) {}

  // Does not touch a payload, but of strings; what it says of those is kept until they are edited. 0 for a tensor that
  // is broken, where the view says nothing of that.
  uint64_t size(uint32_t tensor, Facet facet) const;

  // EIO for a tensor that is broken, where the view says nothing of that.
  Rope content(uint32_t tensor, Facet facet) const;

  std::string xxh128(uint32_t tensor) const;
  const std::shared_ptr<DigestCache>& digests() const noexcept { return digests_; }

 private:
  struct Measured {
    uint64_t version = 0;
    uint64_t size = 0;
  };

  uint64_t size_of_strings(uint32_t tensor, Facet facet) const;

  std::shared_ptr<Sidecar> sidecar_;
  std::shared_ptr<DigestCache> digests_ = std::make_shared<DigestCache>();
  mutable Mutex mutex_;
  mutable std::unordered_map<uint64_t, Measured> strings_ ONNXFS_GUARDED_BY(mutex_);  // by tensor and facet
};

}  // namespace onnxfs
