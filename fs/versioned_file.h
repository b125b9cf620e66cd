#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "fs/filesystem.h"

namespace onnxfs {

// A file that was opened to be read, and holds what `make` gives for the present version of what it is made from.
// Between versions it is made once.
class VersionedFile final : public OpenFile {
 public:
  VersionedFile(std::function<uint64_t()> version, std::function<Rope()> make)
      : version_(std::move(version)), make_(std::move(make)), made_of_(version_()), content_(make_()) {}

  Rope content() const override {
    const std::lock_guard lock(mutex_);
    if (const uint64_t now = version_(); now != made_of_) {
      content_ = make_();
      made_of_ = now;
    }
    return content_;
  }

 private:
  std::function<uint64_t()> version_;
  std::function<Rope()> make_;
  mutable std::mutex mutex_;  // guards what follows
  mutable uint64_t made_of_;
  mutable Rope content_;
};

}  // namespace onnxfs
