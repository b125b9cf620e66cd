#pragma once

#include <string_view>

#include "core/onnx/data_files.h"
#include "core/wire/window.h"

namespace onnxfs {

// Which message a file is. ONNX writes all of them bare, so what is no .onnx file is told by its fields alone.
enum class Root : uint8_t { model, tensor, sequence, optional, sequence_or_optional, map, sparse_tensor };

// "ModelProto", "SequenceProto or OptionalProto" …
std::string_view name_of(Root root);

// Tries the messages from the most demanding to the least. Each test is strict: all fields are known ones of the right
// wire types, to the end of the file; and what they say makes sense: a tensor's data have the size that its shape
// needs, a sequence's values are of the type that it says, a map has a value for each key. A sequence of at most one
// value and an optional are the same bytes.
//
// Throws Error(EINVAL) when it is none of them, EIO and ESTALE when the file cannot be read.
Root recognise_root(wire::Window& window, DataFiles& files);

// Whether the file is a sound tensor by the same test, which no model passes.
bool is_sound_tensor(wire::Window& window, DataFiles& files);

}  // namespace onnxfs
