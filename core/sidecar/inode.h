#pragma once

#include <sys/types.h>

#include <compare>
#include <optional>
#include <set>
#include <string>

#include "core/onnx/model.h"

namespace onnxfs {

// Which file it is, whatever it is called. A plain value; it says something as long as the file is open, or has a name.
struct Inode {
  dev_t device = 0;
  ino_t number = 0;

  static Inode of(int fd);

  // Of what has that name, links not followed; nothing when there is nothing, or it cannot be told.
  static std::optional<Inode> at(const std::string& path) noexcept;

  auto operator<=>(const Inode&) const = default;
};

using Inodes = std::set<Inode>;

// The model's file and its data files.
Inodes inodes_of(const Model& model);

}  // namespace onnxfs
