#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/bytes/mutex.h"
#include "fs/draft.h"
#include "fs/editable.h"
#include "fs/filesystem.h"

namespace onnxfs {

// An editable file that was opened, to read or to write it: what it holds, or the draft of it that was begun through
// it.
class EditableFile final : public OpenFile {
 public:
  // `changed(is_replaced)` is called after each change of what the file holds: a patch, which the kernel knows of, or a
  // draft that took effect; `dropped` when a draft ended without; `read` when the file is read.
  struct Surroundings {
    uint64_t inode;
    std::string path;  // for messages
    std::shared_ptr<Sidecar> sidecar;
    Drafts& drafts;
    std::function<void(bool is_replaced)> changed;
    std::function<void()> dropped;
    std::function<void()> read;
  };
  EditableFile(std::unique_ptr<Editable> target, Surroundings surroundings);

  // For one that is open for writing: what O_TRUNC does.
  void begin_replacement();

  Rope content() const override;
  std::optional<uint64_t> own_size() const override;
  void write(uint64_t offset, std::span<const std::byte> bytes) override;
  void resize(uint64_t size) override;
  std::function<void()> preparation() const override;
  void closed_by(pid_t process) override;
  void flushed() override { is_flushed_ = true; }

 private:
  template <typename Work>
  void named(Work work) const;
  void write_through(uint64_t offset, std::span<const std::byte> bytes);
  std::shared_ptr<Draft> draft() const;  // that is not finished yet; null for none
  std::shared_ptr<Draft> join_draft(bool with_content);

  std::unique_ptr<Editable> target_;
  Surroundings around_;
  mutable Mutex mutex_;
  std::shared_ptr<Draft> joined_ ONNXFS_GUARDED_BY(mutex_);  // that was begun or written through this file
  std::atomic<bool> is_flushed_ = false;  // so that a draft of it, when it takes effect, is to be made durable too
};

}  // namespace onnxfs
