#pragma once

#include <functional>
#include <string>

#include "core/bytes/disk.h"
#include "core/bytes/file_source.h"
#include "core/bytes/rope.h"

namespace onnxfs {

// Fills a new file with a rope, flushes it, and compares every byte of it with the rope. Long ranges of files are
// copied inside the kernel; what else there is goes through a buffer. A second thread reads back what was written while
// more is being written, so the comparison costs little time of its own.
//
// `written` is told, on the caller's thread, after each piece how many bytes there are; it may throw to stop. Throws
// Error: EIO when a byte is another than was written, ESTALE when a file that is copied changes meanwhile, and as the
// disk does. The file's content is then anything.
void write_checked(const Rope& content, int fd, const std::string& path, Disk& disk,
                   const std::function<void(uint64_t)>& written);

// Compares a rope with as many bytes of a file from `offset` on. Throws Error(EIO) with the offset of the first piece
// that differs.
void require_same_bytes(const Rope& content, int fd, uint64_t offset, const std::string& path);

// Whether a file holds a rope's bytes and no more. Reads all of it, if it has the size.
bool has_bytes(const Rope& content, const FileSource& file);

}  // namespace onnxfs
