// What a commit has yet to do, kept in the sidecar while files change.
//
// commit.journal is a line of JSON:
//   { "format": 1, "kind": "rename" or "in place", "edits": how many tensors,
//     "files": [{"path": "w.bin", "size": 123, "inode": 4}, …], "checksum": "XXH3-64 of this object without its
//     checksum, as written without spaces" }
//
//  * "rename": each file was written, flushed and checked under its temporary name (temporary_file.h), with the size
//  and
//    the inode given, and is to be renamed in this order; one whose temporary name is gone was. Then the edits are
//    done.
//  * "in place": the edits are to be written into the files, which have the sizes given. How far that has come is not
//    said: it is done again from the first. The edits themselves are the log.
//
// Paths are beneath the model's folder, with no "." or ".." in them, so that model and sidecar may be moved together.
// One that is not UTF-8 is given as "path_hex", two digits a byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/bytes/disk.h"

namespace onnxfs {

struct Journal {
  enum class Kind : uint8_t { rename, in_place };
  struct File {
    std::string path;
    uint64_t size = 0;
    uint64_t inode = 0;
  };

  Kind kind = Kind::rename;
  size_t edits = 0;
  std::vector<File> files;

  // Of a sidecar; nothing when there is none. EBADMSG when it is damaged, ENOTSUP when another version wrote it.
  static std::optional<Journal> read(const std::string& sidecar);

  // Durable when it returns; when it throws there is none, or a whole one.
  void write(const std::string& sidecar, Disk& disk) const;

  // Durable too. There is one.
  static void remove(const std::string& sidecar, Disk& disk);
};

}  // namespace onnxfs
