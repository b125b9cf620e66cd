// A mount as a file system, without a kernel: what is where, what it looks like, what it holds.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/rope.h"

namespace onnxfs {

// Who owns the files of a mount, and which permission bits are taken off them.
struct Ownership {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t umask = 0;
};

// A file or folder as it is told to the kernel, and for how many seconds that may be believed.
struct Entry {
  struct stat attributes = {};
  double attributes_valid = 0;
  double name_valid = 0;
};

// A name that is not there, and for how long that may be believed.
struct Absence {
  double valid = 0;
};

// A file that was opened: a snapshot of its content.
struct OpenFile {
  Rope content;
  bool keep_cache = true;  // what the kernel has cached of it is still true
  bool direct = false;     // made anew at each open; its size may not be what was last told
};

// What the kernel asks a mount. Read-only. Any number of threads may use one. Errors are thrown as Error: ENOENT for an
// inode that was never told, ESTALE for one whose file is another by now.
class Filesystem {
 public:
  static constexpr uint64_t root_inode = 1;

  virtual ~Filesystem() = default;

  // ENOENT as an Absence; ENOTDIR.
  virtual Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const = 0;
  virtual Entry entry(uint64_t inode) const = 0;

  // EROFS to write, EIO for a broken tensor, ESTALE when the file behind it changed, EISDIR.
  virtual std::unique_ptr<OpenFile> open(uint64_t inode, int flags) const = 0;

  // Calls visit(name, inode, type, next) for the entries of a folder from `offset` on, until it returns false: "." and
  // ".." first. `next` is the offset of what follows. An entry has the same offset as long as it is there. The type is
  // that of the inode's mode. A list that changed has another modification time. ENOTDIR.
  using Visit = std::function<bool(const std::string& name, uint64_t inode, mode_t type, uint64_t next)>;
  virtual void list(uint64_t folder, uint64_t offset, const Visit& visit) const = 0;

  // Extended attributes. `attribute_size` does not compute what is dear. ENODATA.
  virtual std::vector<std::string_view> attribute_names(uint64_t inode) const = 0;
  virtual size_t attribute_size(uint64_t inode, std::string_view name) const = 0;
  virtual std::string attribute(uint64_t inode, std::string_view name) const = 0;

  virtual struct statvfs statistics() const = 0;

 protected:
  Filesystem() = default;
  Filesystem(const Filesystem&) = default;
  Filesystem& operator=(const Filesystem&) = default;
};

// The attributes that all files and folders of a mount share: of a file with its size, of a folder without.
Entry file_entry(uint64_t inode, uint64_t size, timespec mtime, const Ownership& ownership);
Entry folder_entry(uint64_t inode, nlink_t links, timespec mtime, const Ownership& ownership);

// For how many seconds the kernel may believe what does not change as long as the mount is there, and what may.
inline constexpr double lasting = 365 * 86400.0;
inline constexpr double seconds_to_notice = 1;

}  // namespace onnxfs
