#pragma once

#include <span>

#include "core/bytes/rope.h"

namespace onnxfs {

// The elements of an array that `column_major` holds with its first index running fastest (Fortran's order), row-major:
// with its last index running fastest. Permuted when they are read, in blocks of some megabytes of which the last one
// is kept, so that reading all of it from front to back is cheap; never in memory as a whole. Any number of threads may
// use one.
//
// `column_major` holds as many elements as the dimensions say, at least one; `width` is their size in bytes: 1, 2, 4, 8
// or 16.
SourcePtr row_major(Rope column_major, size_t width, std::span<const uint64_t> dims);

}  // namespace onnxfs
