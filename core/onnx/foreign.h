#pragma once

#include <string>
#include <string_view>

namespace onnxfs {

// What a file is that is no ONNX model, judged by its first bytes, as the end of the sentence "FILE is …": "a zip
// archive; …" with the way out where there is one. Empty when nothing speaks against a model.
//
// `head` is the file's first kilobyte, or all of it when it is shorter.
std::string recognise_foreign(std::string_view head);

}  // namespace onnxfs
