#pragma once

#include <sys/stat.h>

#include <atomic>
#include <mutex>
#include <string>

#include "core/bytes/source.h"
#include "core/bytes/unique_fd.h"

namespace onnxfs {

// What tells that an open file is still the bytes that were opened. The change time is left out on purpose:
// renaming another file over this one, or linking it, changes that and no byte.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  uint64_t size = 0;
  timespec mtime = {};

  static FileIdentity of(const struct stat& status) noexcept;
  bool operator==(const FileIdentity& other) const noexcept;
};

// A regular file, mapped when first lent. Holds its descriptor, so a file renamed or unlinked since stays readable;
// one that is written to or truncated since gives ESTALE from then on, with a sentence that names it. Of lent bytes
// that is true but for a tick of the system's clock (some milliseconds), since asking costs a small read a tenth.
//
// Never reads ahead of what is asked, and never touches the map itself.
class FileSource final : public Source {
 public:
  // `label` is how messages name the file. ENOENT, EACCES … as open(2); EINVAL when it is not a regular file.
  static std::shared_ptr<const FileSource> open(const std::string& path);
  static std::shared_ptr<const FileSource> adopt(UniqueFd fd, std::string label);

  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  uint64_t size() const noexcept override { return identity_.size; }
  void read(uint64_t offset, std::span<std::byte> out) const override;
  void require_current() const override;
  Borrowed borrow(uint64_t offset, size_t length) const override;

  const FileIdentity& identity() const noexcept { return identity_; }
  const std::string& label() const noexcept { return label_; }

  // For the kernel to copy from, and to ask what reading does not tell. It is this one's.
  int descriptor() const noexcept { return fd_.get(); }

  // Why reads give ESTALE, or "" while they do not.
  std::string staleness() const;

  // Says how the file will be read next: POSIX_FADV_RANDOM while headers are scanned, else a cold disk would
  // be read ahead around every one of them.
  void advise(int advice) const noexcept;

 private:
  FileSource(UniqueFd fd, FileIdentity identity, std::string label);
  const std::byte* map() const;
  void require_current_this_tick() const;

  UniqueFd fd_;
  FileIdentity identity_;
  std::string label_;
  mutable std::once_flag mapped_;
  mutable const std::byte* map_ = nullptr;        // stays null where the address space or the file system refuses
  mutable std::atomic<int64_t> current_at_ = -1;  // the last tick in which it was found unchanged
};

}  // namespace onnxfs
