// Which names new files may have.
#pragma once

#include <string>

#include "core/onnx/model.h"

namespace onnxfs {

// Throws Error(EINVAL) when `path`, a model that is to be written or the data file of one, would be taken for something
// else later: for the edits of `model`, or of the new model at `output`, or for what a killed commit left.
void require_usable_name(const std::string& path, const std::string& output, const Model& model);

// Throws Error(EINVAL) when a reader of the model at `output` would not follow a data file's `location`, a normal one,
// since a folder in it is a link that leads out of the model's folder; or when it is the output itself by such a way.
void require_location_reached(const std::string& output, const std::string& location);

}  // namespace onnxfs
