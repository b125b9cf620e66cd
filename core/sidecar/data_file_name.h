// Names for data files that every reader of external data takes for a file in the model's folder: some refuse a
// location with ".." anywhere in it, with a backslash, or with letters that are not ASCII.
#pragma once

#include <string>
#include <string_view>

namespace onnxfs {

// The text with "_" for all that is no ASCII letter, digit, "-", "_" or single "." inside of it.
std::string plain_file_name(std::string_view text);

// The n-th name, from 0, for data of a model: "model.onnx.data", "model.onnx-1.data" … Of a model whose name is not
// plain, a plain one and a hash, for two models must not have one name for their data.
std::string data_file_name(const std::string& model_name, unsigned n);

// A location that a user chose, made normal: "./w.data" is "w.data". Throws Error(EINVAL) for one that readers refuse,
// or that is not beneath the model's folder, with the reason.
std::string require_portable_location(const std::string& location);

}  // namespace onnxfs
