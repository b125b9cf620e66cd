#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/model.h"

namespace onnxfs {

// What is where in live/: the model's file under the name that it has on disk, and its data files under the names that
// the model gives them, which may have folders. Data files that cannot be read are not there. Immutable; any number of
// threads may use one.
class LiveTree {
 public:
  static constexpr uint32_t root = 0;        // the folder
  static constexpr uint32_t model_file = 0;  // the file

  struct Folder {
    std::string name;
    uint32_t parent = root;
  };
  struct File {
    std::string name;
    uint32_t parent = root;
    uint32_t data_file = Tensor::no_index;  // in the catalog's list; no_index of the model's file
  };
  struct Listed {
    std::string name;
    uint32_t number;
    bool is_folder;
  };

  explicit LiveTree(const Model& model);

  const std::vector<Folder>& folders() const noexcept { return folders_; }
  const std::vector<File>& files() const noexcept { return files_; }

  std::optional<uint32_t> find_folder(uint32_t folder, std::string_view name) const;
  std::optional<uint32_t> find_file(uint32_t folder, std::string_view name) const;
  std::vector<Listed> list(uint32_t folder) const;

 private:
  void add(std::string_view location, uint32_t data_file);

  std::vector<Folder> folders_;
  std::vector<File> files_;
  std::map<std::pair<uint32_t, std::string>, uint32_t, std::less<>> folder_numbers_, file_numbers_;
};

}  // namespace onnxfs
