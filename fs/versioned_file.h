#pragma once

#include <functional>
#include <utility>

#include "core/bytes/mutex.h"
#include "fs/filesystem.h"

namespace onnxfs {

// A file that was opened to be read, and holds what `make` gives for the present version of what it is made from.
// Between versions it is made once.
class VersionedFile final : public OpenFile {
 public:
  VersionedFile(std::function<uint64_t()> version, std::function<Rope()> make)
      : version_(std::move(version)), make_(std::move(make)), made_of_(version_()), content_(make_()) {}

  Rope content() const override {
    const MutexLock lock(mutex_);
    if (const uint64_t now = version_(); now != made_of_) {
      content_ = make_();
      made_of_ = now;
    }
    return content_;
  }

 private:
  std::function<uint64_t()> version_;
  std::function<Rope()> make_;
  mutable Mutex mutex_;
  mutable uint64_t made_of_ ONNXFS_GUARDED_BY(mutex_);
  mutable Rope content_ ONNXFS_GUARDED_BY(mutex_);
};

}  // namespace onnxfs
