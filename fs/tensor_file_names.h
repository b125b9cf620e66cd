#pragma once

#include <set>
#include <string>

#include "fs/edited_model.h"

namespace onnxfs {

// Names of data files that hold a tensor each: the model's, the tensor's path in the mount (without "initializers/"),
// and ".data": "model.onnx.encoder_layer.0_W.data". Plain ones that every reader takes (core/sidecar/data_file_name.h);
// where two tensors would have one name, the later one gets "-2", "-3" …
class TensorFileNames {
 public:
  TensorFileNames(const EditedModel& model, const std::string& output);

  // To be asked once for each tensor.
  std::string take(uint32_t tensor);

 private:
  const EditedModel& model_;
  std::string prefix_;
  std::set<std::string> taken_;
};

}  // namespace onnxfs
