#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/bytes/mutex.h"
#include "fs/filesystem.h"
#include "fs/folder_members.h"

namespace onnxfs {

// What a mounted folder holds open of its models, at most, but for those that are in use.
struct FolderLimits {
  using Clock = std::chrono::steady_clock;

  size_t models = 32;           // enough for who works with several, few enough to bound descriptors
  uint64_t memory = 128 << 20;  // about so many bytes
  Clock::duration unused = std::chrono::minutes(5);
  std::function<Clock::time_point()> now = &Clock::now;
};

// The mount of a folder: its sub-folders, and for each model file in them a folder of its own name that is the mount of
// that model, without a status of its own. A model is opened when something in it is first asked for, and dropped when
// nobody has a file of it open, and it has not been asked for in a while or others have since. Its inodes stay what
// they are: it is opened again. A file that cannot be opened as a model is a folder with problems.txt. Models are
// edited as in mounts of their own; the folder itself is not.
//
// An inode number is the member's number in the upper bits, and in the lower 40 that of the model's own mount. A model
// file that was replaced or written to is another member with other inodes, so nothing that the kernel knows of the old
// one is taken for the new one; what is still asked of the old one gives ESTALE.
//
// Any number of threads may use one; a slow file holds up only those who ask for what is in it.
class FolderFilesystem final : public Filesystem {
 public:
  // `open_model` makes the mount of the model at a path.
  using OpenModel = std::function<std::shared_ptr<Filesystem>(const std::string& path)>;
  FolderFilesystem(const std::string& folder, const std::string& mount_point, Ownership ownership, OpenModel open_model,
                   StatusText status, FolderLimits limits = {});

  Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const override;
  Entry entry(uint64_t inode) const override;
  std::unique_ptr<OpenFile> open(uint64_t inode, int flags) const override;
  void list(uint64_t folder, uint64_t offset, const Visit& visit) const override;
  std::vector<std::string_view> attribute_names(uint64_t inode) const override;
  size_t attribute_size(uint64_t inode, std::string_view name) const override;
  std::string attribute(uint64_t inode, std::string_view name) const override;
  struct statvfs statistics() const override;

  Created create(uint64_t folder, std::string_view name, mode_t mode, int flags) override;
  void resize(uint64_t inode, uint64_t size) override;
  void change_attributes(uint64_t inode, const AttributeChange& change) override;
  void rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name,
              bool replaces) override;
  void remove(uint64_t folder, std::string_view name) override;
  void flush() override;
  std::vector<std::string> scratch_files() const override;
  void tidy() noexcept override;
  void let_go() noexcept override;
  std::optional<std::chrono::milliseconds> let_go_interval() const override;
  void watch(const Watcher& watcher) override;

 private:
  // A model's mount, and the lock that keeps two requests from opening it at once: held for as long as that takes, and
  // taken before mutex_.
  struct Slot {
    Mutex opening;
    std::shared_ptr<Filesystem> filesystem ONNXFS_GUARDED_BY(opening);
  };

  Entry entry_of(const FolderMember& member) const;
  Rope content_of_own(uint64_t inode) const;            // of a file in .onnxfs
  const FolderMember* folder_at(uint64_t inode) const;  // null when the inode is in a model
  std::shared_ptr<Filesystem> opened(const FolderMember& model) const;
  std::shared_ptr<Slot> slot_of(uint32_t number) const;
  std::vector<std::pair<uint32_t, std::shared_ptr<Slot>>> all_slots() const;  // by the member's number
  void note_opened(uint32_t number, const Filesystem& filesystem) const;
  Watcher watcher_of(uint32_t number) const;
  bool drop_one(FolderLimits::Clock::time_point time = FolderLimits::Clock::time_point::max()) const
      ONNXFS_REQUIRES(mutex_);
  bool drop_unless_in_use(std::list<uint32_t>::iterator number) const ONNXFS_REQUIRES(mutex_);
  struct Opened {
    uint32_t number;
    std::shared_ptr<Filesystem> filesystem;
  };
  std::vector<Opened> all_open() const;

  // The mount of the model that an inode is in; EPERM for what is on disk.
  std::shared_ptr<Filesystem> model_of(uint64_t inode) const;

  mutable FolderMembers members_;
  Ownership ownership_;
  OpenModel open_model_;
  StatusText status_;
  const FolderLimits limits_;
  Watcher watcher_;

  mutable Mutex mutex_;
  mutable std::list<uint32_t> recently_used_ ONNXFS_GUARDED_BY(mutex_);  // the latest first
  struct Used {
    std::shared_ptr<Slot> slot;
    std::list<uint32_t>::iterator place;
    FolderLimits::Clock::time_point at;  // when it was last asked for
    uint64_t memory = 0;
  };
  mutable std::unordered_map<uint32_t, Used> slots_ ONNXFS_GUARDED_BY(mutex_);
  mutable uint64_t memory_ ONNXFS_GUARDED_BY(mutex_) = 0;  // of all that are open
  // What had edits in each, when it was.
  mutable std::unordered_map<uint32_t, std::vector<uint32_t>> dropped_ ONNXFS_GUARDED_BY(mutex_);
};

}  // namespace onnxfs
