// The header of a .npy file (numpy's NEP 1):
//
//     "\x93NUMPY"                              six bytes
//     version                                  a byte each for major and minor: 1.0, 2.0 or 3.0
//     length of what follows, up to the data   little-endian, two bytes in version 1.0, else four
//     a Python dictionary, as text             {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//     spaces and a line feed                   so that the data begin at a multiple of 64 and can be mapped
//
// and then the elements. The dictionary has exactly these three keys, in any order. `descr` is the type: byte order
// ('<', '>', '|' where it has none), kind and width in bytes; of a structured type it is a list. Version 2.0 is for
// headers of 64 KiB and more, 3.0 for names of fields that are not Latin-1.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/rope.h"

namespace onnxfs {

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
  uint64_t data_begin = 0;  // in the file
};

// All bytes before the data of an array in C's order: version 1.0, or 2.0 where that cannot hold the shape.
std::string npy_header(std::string_view descr, std::span<const int64_t> shape);

// Of a file that numpy wrote, or anybody who follows it: spaces are free, quotes may be either. Throws Error(EINVAL)
// with what is wrong. Whether the data are there, and fit, is not looked at.
NpyHeader read_npy_header(const Rope& file);

}  // namespace onnxfs
