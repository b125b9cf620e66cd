#pragma once

#include <onnx.pb.h>

#include "core/onnx/model.h"

namespace onnxfs {

// The parts of a model that describe it, as protobuf messages: its own fields, and of the main graph the name, the
// documentation, metadata, inputs and outputs. No node, tensor or function is in it, so it is small.
//
// Throws Error(EIO) when those parts are not what the schema says, and as reading the model file does.
proto::ModelProto read_metadata(const Model& model);

}  // namespace onnxfs
