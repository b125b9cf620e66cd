#pragma once

#include "fs/filesystem.h"

namespace onnxfs {

// What a folder's mount shows of a file that is no model: a folder with nothing but problems.txt in it, which says why.
class FailedFilesystem final : public Filesystem {
 public:
  FailedFilesystem(const std::string& reason, timespec mtime, Ownership ownership);

  Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const override;
  Entry entry(uint64_t inode) const override;
  std::unique_ptr<OpenFile> open(uint64_t inode, int flags) const override;
  void list(uint64_t folder, uint64_t offset, const Visit& visit) const override;
  std::vector<std::string_view> attribute_names(uint64_t) const override { return {}; }
  size_t attribute_size(uint64_t inode, std::string_view name) const override;
  std::string attribute(uint64_t inode, std::string_view name) const override;
  struct statvfs statistics() const override;

 private:
  std::string text_;  // of problems.txt
  timespec mtime_;
  Ownership ownership_;
};

}  // namespace onnxfs
