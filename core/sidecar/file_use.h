#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/file_source.h"
#include "core/onnx/model.h"

namespace onnxfs {

// Finds out whether a file of a model may be replaced, or written, where it stands, without anybody else seeing it.
// Looks at the models in the same folders, each of which it opens once, when first asked. One thread.
class FileUse {
 public:
  // `model_path` is absolute.
  explicit FileUse(std::string model_path);

  // Why a data file may not, or "": it is reached by a symbolic link somewhere beneath the model's folder, has several
  // names, is not there, or is used by another model, or is one. `location` is a normalised one.
  std::string obstacle_of(const std::string& location, const FileIdentity& file);

  // Why the model's own file may not be written where it stands, or "".
  std::string obstacle_of_model(const FileIdentity& file);

 private:
  struct OtherModel {
    std::string path;
    std::vector<std::pair<dev_t, ino_t>> files;
  };

  std::string other_user(const FileIdentity& file, const std::string& folder);
  const std::vector<OtherModel>& models_in(const std::string& folder);

  std::filesystem::path model_path_;
  std::vector<std::pair<std::string, std::vector<OtherModel>>> folders_;  // those that were looked at
};

// Whether a location names the file for whoever looks for it beneath the folder alone, as a model that is a regular
// file there will.
bool is_reached_from(const std::string& folder, const std::string& location, const FileIdentity& file);

}  // namespace onnxfs
