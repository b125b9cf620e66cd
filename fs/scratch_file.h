#pragma once

#include <sys/types.h>

#include <ctime>
#include <functional>
#include <memory>

#include "core/bytes/mutex.h"
#include "core/sidecar/sidecar.h"
#include "fs/editable.h"
#include "fs/filesystem.h"

namespace onnxfs {

// A file that a program made beside the tensors, to rename it over one of them: how editors and many other programs
// save. It is gone with the mount. Any number of threads may use one.
class ScratchFile {
 public:
  struct Attributes {
    mode_t mode = 0;  // permission bits
    uid_t uid = 0;
    gid_t gid = 0;
    timespec mtime = {};
  };

  ScratchFile(uint64_t id, std::shared_ptr<Stage> stage, Attributes attributes);

  uint64_t id() const noexcept { return id_; }

  Attributes attributes() const;
  void change_attributes(const Filesystem::AttributeChange& change);

  // Makes its content that of `target`, or throws what that throws. Who still has it open goes on with the target, and
  // `changed` is called for each change that comes so.
  void become(std::unique_ptr<Editable> target, std::function<void()> changed);

  Rope content() const;
  void write(uint64_t offset, std::span<const std::byte> bytes);
  void resize(uint64_t size);

 private:
  const uint64_t id_;
  mutable Mutex mutex_;
  std::shared_ptr<Stage> stage_ ONNXFS_GUARDED_BY(mutex_);  // null once it has become another file
  std::unique_ptr<Editable> became_ ONNXFS_GUARDED_BY(mutex_);
  std::function<void()> changed_ ONNXFS_GUARDED_BY(mutex_);
  Attributes attributes_ ONNXFS_GUARDED_BY(mutex_);
};

// One of them that was opened.
class OpenScratchFile final : public OpenFile {
 public:
  explicit OpenScratchFile(std::shared_ptr<ScratchFile> file) : file_(std::move(file)) {}

  Rope content() const override { return file_->content(); }
  void write(uint64_t offset, std::span<const std::byte> bytes) override;
  void resize(uint64_t size) override;

 private:
  std::shared_ptr<ScratchFile> file_;
};

}  // namespace onnxfs
