#pragma once

#include <string>

#include "core/onnx/model.h"

namespace onnxfs {

namespace proto {
class TypeProto;
}

// model.json: what describes the model as a whole; of a file that holds values, which message it is. A dimension of an
// input or output is a number, a symbol's name, or null; the shape is null where the rank is unknown. Throws Error as
// read_metadata does.
std::string model_json(const Model& model);

// A type as that has it, on one line.
std::string type_json(const proto::TypeProto& type);

}  // namespace onnxfs
