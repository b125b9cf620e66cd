#pragma once

#include <string>

#include "core/bytes/disk.h"
#include "core/bytes/source.h"
#include "core/bytes/unique_fd.h"

namespace onnxfs {

// One append-only file of a sidecar (record.h). As a source it has its full capacity, mapped once and beyond the file's
// present end, so that what is appended can be lent at once. Nobody reads past what was appended.
//
// It knows neither its end nor what is in it: the log does. Holds its descriptor, so one that is unlinked stays
// readable. Any number of threads may use one.
class Blob final : public Source {
 public:
  // A new one, with its header. What Disk throws; then there is no file.
  static std::shared_ptr<const Blob> create(Disk& disk, const std::string& folder, uint32_t number, uint64_t log_id,
                                            uint64_t capacity);
  // One that is there, for writing where that is allowed. ENOENT … as open(2).
  static std::shared_ptr<const Blob> open(const std::string& folder, uint32_t number, uint64_t capacity);

  ~Blob() override;
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;

  uint64_t size() const noexcept override { return capacity_; }
  void read(uint64_t offset, std::span<std::byte> out) const override;
  Borrowed borrow(uint64_t offset, size_t length) const override;

  // Reads what there is of the range: less than it where the file ends.
  size_t read_some(uint64_t offset, std::span<std::byte> out) const;

  uint32_t number() const noexcept { return number_; }
  const std::string& path() const noexcept { return path_; }
  int fd() const noexcept { return fd_.get(); }
  bool writable() const noexcept { return writable_; }

 private:
  Blob(UniqueFd fd, std::string path, uint32_t number, uint64_t capacity, bool writable);

  UniqueFd fd_;
  std::string path_;
  uint32_t number_;
  uint64_t capacity_;
  bool writable_;
  const std::byte* map_ = nullptr;  // null where the address space or the file system refuses
};

using BlobPtr = std::shared_ptr<const Blob>;

// "00000001.blob"
std::string blob_path(const std::string& folder, uint32_t number);

}  // namespace onnxfs
