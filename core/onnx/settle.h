// What a TensorProto means: which of its fields holds its payload, how large that is, and what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "core/onnx/data_files.h"
#include "core/onnx/tensor.h"
#include "core/onnx/tensor_fields.h"

namespace onnxfs {

// Something about a tensor that a person should know. A broken one has no exact bytes and cannot be read; any other
// remark is on a tensor that is served.
struct Remark {
  std::string text;     // "raw_data has 8 bytes, float32[3] needs 12"
  uint64_t offset = 0;  // in the model file
  bool broken = false;
};

// The tensor that `fields`, scanned from `message`, describe; without its name and dims, whose views the caller makes.
// The payload is not touched, but for the last byte of packed elements that leave some of its bits unused. Opens the
// tensor's data file through `files`, but for a tensor of no elements.
//
// Data that counts, in this order: external data if data_location says so; raw_data if present, even empty; the typed
// field of the data type. At most one remark is `broken`, and is the last. No file content makes this throw, other
// than a model file that can no longer be read.
Tensor settle(const TensorFields& fields, ByteRange message, wire::Window& window, DataFiles& files,
              std::vector<Remark>& remarks);

// "float32[64, 3, 7, 7]", as messages write it.
std::string describe(int32_t data_type, std::span<const int64_t> dims);

}  // namespace onnxfs
