#pragma once

#include <functional>
#include <string>

#include "core/bytes/disk.h"
#include "core/bytes/file_source.h"
#include "core/bytes/rope.h"
#include "core/sidecar/inode.h"

namespace onnxfs {

// The name under which a file is written that is to be called `path`: ".NAME.onnxfs-commit" beside it. Of a name that
// leaves no room for more, a part and a hash.
std::string temporary_path(const std::string& path);

// Whether a path has a name of that kind, of whatever file.
bool is_temporary_name(const std::string& path);

// Removes what was left of `path` by one who was killed while writing it. Throws Error:
//  EBUSY   a living one is writing it
//  EINVAL  what has the temporary name is one of the inputs, which are never removed
//  EEXIST  it is no regular file
//  ENOLCK  the file system has no locks, so nobody can tell whether one is living
// and as open(2) and the disk do.
void remove_remains(const std::string& path, const Inodes& inputs, Disk& disk);

// A file that is being written beside the one whose place it will take. As long as it exists it holds a lock (flock) on
// its file, by which others tell it from remains; of two for one path, the second gets EBUSY. It never touches what has
// its names and is another file. Removed with the object, unless it was put in place or left.
// One thread.
class TemporaryFile {
 public:
  // Will be called `path`, with the mode and owner of `like`. As remove_remains.
  TemporaryFile(std::string path, const FileSource& like, const Inodes& inputs, Disk& disk);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  uint64_t size() const noexcept { return size_; }
  uint64_t inode() const noexcept { return inode_.number; }

  // Once: all of its content, as write_checked does.
  void fill(const Rope& content, const std::function<void(uint64_t)>& written);

  // What stands in it now.
  std::shared_ptr<const FileSource> open() const;

  // In place of what has the path, or where nothing has it: EEXIST when something does by now. ESTALE when somebody
  // took the temporary name away. The folder is the caller's to flush.
  void replace();
  void put_in_place();

  bool is_in_place() const noexcept;       // whatever replace() or put_in_place() said
  void withdraw() noexcept;                // from its place, where nothing was before
  void leave() noexcept { left_ = true; }  // for whoever finds the journal

 private:
  void require_temporary_name() const;

  std::string path_;
  std::string temporary_;
  Disk& disk_;
  UniqueFd fd_;
  Inode inode_;
  uint64_t size_ = 0;
  bool left_ = false;
};

}  // namespace onnxfs
