#pragma once

#include <memory>
#include <unordered_map>

#include "core/bytes/mutex.h"
#include "fs/filesystem.h"

namespace onnxfs {

// The files that the kernel has handles on, which are pointers to them. Of a connection that ends, the kernel does not
// release all: what is left then ends with this, and replacements that nobody closed do not take effect. Any number of
// threads may use one.
class FileHandles {
 public:
  // Before the kernel is told of it, since it may be released as soon as that is.
  OpenFile* add(std::unique_ptr<OpenFile> file) {
    OpenFile* const handle = file.get();
    const MutexLock lock(mutex_);
    files_.emplace(handle, std::move(file));
    return handle;
  }

  std::unique_ptr<OpenFile> take(OpenFile* handle) {
    const MutexLock lock(mutex_);
    auto node = files_.extract(handle);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

  void clear() {
    std::unordered_map<OpenFile*, std::unique_ptr<OpenFile>> files;  // end after the lock
    const MutexLock lock(mutex_);
    files.swap(files_);
  }

 private:
  Mutex mutex_;
  std::unordered_map<OpenFile*, std::unique_ptr<OpenFile>> files_ ONNXFS_GUARDED_BY(mutex_);
};

}  // namespace onnxfs
