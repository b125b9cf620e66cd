#pragma once

#include <optional>
#include <string>

#include "core/bytes/disk.h"
#include "core/bytes/unique_fd.h"

namespace onnxfs {

// The right to write a sidecar: a flock on the file "lock" in its folder, whose text says who holds it,
// {"holder":"/mnt","pid":123}. The system lets go of it when its process ends, however that ends; the file stays, and
// its text then means nothing. One thread at a time.
class Lock {
 public:
  // EBUSY, with who holds it; or as Disk throws. Wants the folder to be there.
  static Lock take(const std::string& folder, const std::string& holder, Disk& disk);

  // Whether it is still the one that others find in the folder.
  bool is_in_place(const std::string& folder) const;

  // What its holder calls itself; nothing when it is free or there is no lock.
  static std::optional<std::string> holder(const std::string& folder);

 private:
  explicit Lock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace onnxfs
