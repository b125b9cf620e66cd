// What a stage holds: bytes, and zeros where nothing was written.
#pragma once

#include "core/bytes/rope.h"

namespace onnxfs {

// Whether the extent is zeros that stand nowhere on disk.
bool is_zeros(const Extent& extent);

// Whether a file can have so many bytes there; and EFBIG when not.
bool has_room(uint64_t offset, uint64_t length);
void require_room(uint64_t offset, uint64_t length);

// A content with a piece written into it, or with another size. EFBIG past 63 bits.
Rope with_written(const Rope& content, uint64_t offset, const Rope& piece);
Rope with_size(const Rope& content, uint64_t size);

}  // namespace onnxfs
