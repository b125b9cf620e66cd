#pragma once

#include <sys/types.h>

#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/sidecar/sidecar.h"
#include "fs/filesystem.h"

namespace onnxfs {

// A file that a program made beside the tensors, to rename it over one of them: how editors and many other programs
// save. It is gone with the mount.
struct ScratchFile {
  uint64_t id = 0;
  std::shared_ptr<Stage> stage;
  mode_t mode = 0;  // permission bits
  uid_t uid = 0;
  gid_t gid = 0;
  timespec mtime = {};
};

// Those of a mount, by the inode of their folder and their name. One that was removed is gone, but for those who have
// it open. Any number of threads may use one.
class ScratchFiles {
 public:
  struct Listed {
    std::string name;
    uint64_t id;
  };

  // The new file. EEXIST when there is one of that name.
  ScratchFile add(uint64_t folder, std::string_view name, ScratchFile file);

  std::optional<ScratchFile> find(uint64_t folder, std::string_view name) const;
  std::optional<ScratchFile> find(uint64_t id) const;
  std::vector<Listed> list(uint64_t folder) const;  // in the order in which they were made

  // Changes what is kept of a file; ENOENT.
  void update(uint64_t id, const std::function<void(ScratchFile&)>& change);

  // False when there is no such file.
  bool remove(uint64_t folder, std::string_view name);

  // Another file of the new name is removed.
  void rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name);

 private:
  using InFolder = std::pair<uint64_t, std::string>;

  mutable std::mutex mutex_;
  std::map<InFolder, uint64_t, std::less<>> names_;
  std::map<uint64_t, ScratchFile> files_;
  uint64_t last_id_ = 0;
};

// One of them that was opened.
class OpenScratchFile final : public OpenFile {
 public:
  explicit OpenScratchFile(std::shared_ptr<Stage> stage) : stage_(std::move(stage)) {}

  Rope content() const override { return stage_->content(); }
  void write(uint64_t offset, std::span<const std::byte> bytes) override;
  void resize(uint64_t size) override;

 private:
  std::shared_ptr<Stage> stage_;
};

}  // namespace onnxfs
