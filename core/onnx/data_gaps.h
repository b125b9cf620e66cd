#pragma once

#include <deque>
#include <vector>

#include "core/onnx/catalog.h"

namespace onnxfs {

// What is odd about how tensors lie in their data files: bytes that belong to no tensor, as a writer leaves them that
// only appends; and tensors that share a part of their bytes. What merely aligns a tensor, to anything up to the
// 64 KiB by which Windows maps files, is no gap, and tensors with the same bytes are tied weights.
//
// Touches no file. A file that is the model itself is passed over.
std::vector<Finding> find_gaps(const std::deque<Tensor>& tensors, const std::vector<DataFile>& files,
                               const FileIdentity& model);

}  // namespace onnxfs
