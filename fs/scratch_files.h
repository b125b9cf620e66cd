#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/mutex.h"
#include "fs/scratch_file.h"

namespace onnxfs {

// The scratch files of a mount, by the inode of their folder and their name. One that was removed, or has become
// another file, is found by its id as long as somebody has it. Any number of threads may use one.
class ScratchFiles {
 public:
  struct Listed {
    std::string name;
    uint64_t id;
  };
  using FilePtr = std::shared_ptr<ScratchFile>;

  bool empty() const;

  // The new file. EEXIST when there is one of that name.
  FilePtr add(uint64_t folder, std::string_view name, std::shared_ptr<Stage> stage, ScratchFile::Attributes attributes);

  // Null when there is none.
  FilePtr find(uint64_t folder, std::string_view name) const;
  FilePtr find(uint64_t id) const;
  std::vector<Listed> list(uint64_t folder) const;  // in the order in which they were made
  std::vector<std::pair<uint64_t, std::string>> all() const;

  // False when there is no such file.
  bool remove(uint64_t folder, std::string_view name);

  // Another file of the new name is removed. ENOENT.
  void rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name);

 private:
  using InFolder = std::pair<uint64_t, std::string>;

  mutable Mutex mutex_;
  std::map<InFolder, FilePtr, std::less<>> names_ ONNXFS_GUARDED_BY(mutex_);
  std::map<uint64_t, std::weak_ptr<ScratchFile>> ids_ ONNXFS_GUARDED_BY(mutex_);
  uint64_t last_id_ ONNXFS_GUARDED_BY(mutex_) = 0;
};

}  // namespace onnxfs
