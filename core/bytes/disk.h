// What changes a disk, and what makes a change last.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/bytes/unique_fd.h"

namespace onnxfs {

// The system calls that change a disk, behind one interface, so that a test can make each of them fail, or be the last
// one of its process. Reading does not go through it. Paths are absolute, or relative to a working directory that
// stays. Each throws Error with the system's errno and a sentence that names the file. Any number of threads may use
// one.
class Disk {
 public:
  static Disk& real();

  virtual ~Disk() = default;

  // A new file, open for reading and writing. EEXIST when there is one.
  virtual UniqueFd create(const std::string& path, mode_t mode);
  virtual void make_folder(const std::string& path, mode_t mode);

  // Writes all of the bytes at `offset`; what was written of them when it throws is not known.
  virtual void write(int fd, std::span<const std::byte> bytes, uint64_t offset, const std::string& path);
  virtual void write(int fd, std::span<const iovec> pieces, uint64_t offset, const std::string& path);

  // Copies `length` bytes between files inside the kernel, sharing blocks where the file system can.
  virtual void copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length,
                    const std::string& path);

  virtual void resize(int fd, uint64_t size, const std::string& path);
  virtual void set_mode(int fd, mode_t mode, uid_t owner, gid_t group, const std::string& path);

  // Makes a file's bytes and size, or a folder's list of names, survive a power cut.
  virtual void flush(int fd, const std::string& path);
  virtual void flush_folder(const std::string& path);

  virtual void rename(const std::string& from, const std::string& to);
  // EEXIST when there is anything at `to`; EINVAL, ENOSYS or EOPNOTSUPP where the file system cannot say so in one
  // step.
  virtual void rename_new(const std::string& from, const std::string& to);
  virtual void link(const std::string& from, const std::string& to);  // a further name of a file
  virtual void remove(const std::string& path);                       // a file
  virtual void remove_folder(const std::string& path);                // an empty one

 protected:
  Disk() = default;
  Disk(const Disk&) = default;
  Disk& operator=(const Disk&) = default;
};

// Gives a file another name, at which nothing may be: EEXIST when there is. On a file system that knows neither
// renames of that kind nor hard links, what appears at the very moment of the rename is replaced, as mv -n does. When
// it throws, the file may have either name, or both.
void move_to_free_name(Disk& disk, const std::string& from, const std::string& to);

// Removes a file on the way out of a failure, of which the first error is the one to tell.
void remove_quietly(Disk& disk, const std::string& path) noexcept;

}  // namespace onnxfs
