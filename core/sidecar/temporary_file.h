#pragma once

#include <functional>
#include <string>

#include "core/bytes/disk.h"
#include "core/bytes/file_source.h"
#include "core/bytes/rope.h"

namespace onnxfs {

// The name under which a file is written that is to be called `path`: ".NAME.onnxfs-commit" beside it. Of a name that
// leaves no room for more, a part and a hash.
std::string temporary_path(const std::string& path);

// Removes what a commit that was killed left of `path`. EBUSY when a living one is writing it.
void remove_remains(const std::string& path, Disk& disk);

// A file that is being written beside the one whose place it will take. As long as it exists it holds a lock (flock) on
// its file, by which others tell it from remains. Removed with the object, unless it was put in place or left.
// One thread.
class TemporaryFile {
 public:
  // Will be called `path`, with the mode and owner of `like`.
  TemporaryFile(std::string path, const FileSource& like, Disk& disk);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  uint64_t size() const noexcept { return size_; }
  uint64_t inode() const noexcept { return inode_; }

  // Once: all of its content, as write_checked does.
  void fill(const Rope& content, const std::function<void(uint64_t)>& written);

  // What stands in it now.
  std::shared_ptr<const FileSource> open() const;

  bool is_waiting() const;                 // under its temporary name, whatever a rename said
  void put_in_place();                     // the folder is the caller's to flush
  void leave() noexcept { left_ = true; }  // for whoever finds the journal

 private:
  std::string path_;
  std::string temporary_;
  Disk& disk_;
  UniqueFd fd_;
  uint64_t size_ = 0;
  uint64_t inode_ = 0;
  bool left_ = false;
};

}  // namespace onnxfs
