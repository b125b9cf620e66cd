// A mount as a file system, without a kernel: what is where, what it looks like, what it holds, how it is changed.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/rope.h"

namespace onnxfs {

// Who owns the files of a mount, which permission bits are taken off them, and whether any are to be written.
struct Ownership {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t umask = 0;
  bool writable = false;
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

// A file that was opened. Any number of threads may use one at once; errors are thrown as Error.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // What the file holds now. A read works on it as on a snapshot.
  virtual Rope content() const = 0;

  // The size of what is seen through this file alone, if there is such.
  virtual std::optional<uint64_t> own_size() const { return std::nullopt; }

  // Changes; EBADF of a file that was not opened for writing. A write is seen whole or not at all.
  virtual void write(uint64_t offset, std::span<const std::byte> bytes);
  virtual void resize(uint64_t size);

  // What can be got ready for the next write while that is made, once the last one was answered; empty when there is
  // nothing. It does not need this file, which may be gone by then, and throws nothing.
  virtual std::function<void()> preparation() const { return {}; }

  // A descriptor of the file was closed by a process (its thread group), one of several perhaps. Throws what that
  // close is to return.
  virtual void closed_by(pid_t) {}

  // fsync was called on it: what was written is durable, and what comes of it at its close is to be too.
  virtual void flushed() {}

  // What the kernel is told of it at its opening.
  bool keep_cache = true;  // what the kernel has cached of it is still true
  bool direct = false;     // its size may not be what was last told, so nothing of it is cached
  bool writable = false;

  pid_t opener = 0;  // the process that opened it

 protected:
  OpenFile() = default;
};

// A file whose content stays what it was when it was opened, and so does its size, for whoever reads on to its end.
class SnapshotFile final : public OpenFile {
 public:
  explicit SnapshotFile(Rope content) : content_(std::move(content)) {}
  Rope content() const override { return content_; }
  std::optional<uint64_t> own_size() const override { return content_.size(); }

 private:
  Rope content_;
};

// Makes the content of .onnxfs/status.json, in which the scratch files are named.
using StatusText = std::function<std::string(const std::vector<std::string>& scratch_files)>;

// What the kernel asks a mount. Any number of threads may use one. Errors are thrown as Error: ENOENT for an inode that
// was never told, ESTALE for one whose file is another by now. What a mount does not override of the changes is EROFS.
class Filesystem {
 public:
  static constexpr uint64_t root_inode = 1;

  virtual ~Filesystem() = default;

  // ENOENT as an Absence; ENOTDIR.
  virtual Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const = 0;
  virtual Entry entry(uint64_t inode) const = 0;

  // `flags` as of open(2): O_TRUNC begins a replacement. EROFS to write what cannot be written, EIO for a broken
  // tensor, ESTALE when the file behind it changed, EISDIR.
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

  // A new file, open. EEXIST; EPERM where no files can be made.
  struct Created {
    Entry entry;
    std::unique_ptr<OpenFile> file;
  };
  virtual Created create(uint64_t folder, std::string_view name, mode_t mode, int flags);

  // Sets the size of a file that nobody needs to have open.
  virtual void resize(uint64_t inode, uint64_t size);

  // Sets permission bits, an owner, times; what is not given stays. EPERM for what cannot be changed.
  struct AttributeChange {
    std::optional<mode_t> mode;
    std::optional<uid_t> uid;
    std::optional<gid_t> gid;
    std::optional<timespec> mtime;
  };
  virtual void change_attributes(uint64_t inode, const AttributeChange& change);

  // As rename(2) and unlink(2); `replaces` is false for RENAME_NOREPLACE.
  virtual void rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name,
                      bool replaces);
  virtual void remove(uint64_t folder, std::string_view name);

  // Makes every change so far survive a power cut.
  virtual void flush() {}

  // Whether it has nothing but what it would have again if it were made anew; open files apart.
  virtual bool is_at_rest() const { return true; }

  // Work that can wait; may take its time. Throws nothing.
  virtual void tidy() noexcept {}

  // Lets go of what has not been used for a while, and how often it is to be asked to; nothing: never. Throws nothing.
  virtual void let_go() noexcept {}
  virtual std::optional<std::chrono::milliseconds> let_go_interval() const { return std::nullopt; }

  // The paths of the files that were made in it, and are neither on disk nor a tensor's.
  virtual std::vector<std::string> scratch_files() const { return {}; }

  // About how many bytes it holds.
  virtual uint64_t memory() const { return 0; }

  // What has edits, by numbers that mean the same in a mount of the same file that is made anew; and what such a one is
  // told, by whom it takes the place of: the kernel may have cached what is not true any more of these. To be told
  // after `watch`.
  virtual std::vector<uint32_t> edited() const { return {}; }
  virtual void doubt(const std::vector<uint32_t>&) const {}

  // Whom a mount tells what has to be done after changes.
  struct Watcher {
    // The kernel may have cached what is no longer true of it. Must not wait for the kernel.
    std::function<void(uint64_t inode)> changed = [](uint64_t) {};
    // Likewise of its attributes, and the kernel is to know when this returns. For what changes once in a mount's life.
    std::function<void(uint64_t inode)> attributes_changed = [](uint64_t) {};
    // It is time for `tidy`. Must not wait.
    std::function<void()> untidy = [] {};
  };
  // Called before anything is served; and, with nobody who is told, when nothing is served any more.
  virtual void watch(const Watcher&) {}

 protected:
  Filesystem() = default;
  Filesystem(const Filesystem&) = default;
  Filesystem& operator=(const Filesystem&) = default;
};

// The attributes that all files and folders of a mount share: of a file with its size, of a folder without. A file is
// 0444, and made 0644 by those who can write it; a folder of a mount that can be written is 0755, else 0555.
Entry file_entry(uint64_t inode, uint64_t size, timespec mtime, const Ownership& ownership);
Entry folder_entry(uint64_t inode, nlink_t links, timespec mtime, const Ownership& ownership);

// For how many seconds the kernel may believe what does not change as long as the mount is there, and what may.
inline constexpr double lasting = 365 * 86400.0;
inline constexpr double seconds_to_notice = 1;

}  // namespace onnxfs
