#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/onnx/model.h"
#include "core/views/listing.h"
#include "fs/tree.h"

namespace onnxfs {

// All that can be found wrong or odd in one model file, at the cost of reading what opening it leaves unread: the long
// varint fields, and the data files that there are checksums of. Edits are not looked at. One thread.
class Examination {
 public:
  // Called now and then with how many bytes of data files are hashed, of how many.
  using Progress = std::function<void(uint64_t done, uint64_t total)>;

  // Throws Error when the file cannot be examined: as Model::open does, or because it, or a data file, cannot be read.
  Examination(const std::string& path, const Progress& progress);
  Examination(const Examination&) = delete;
  Examination& operator=(const Examination&) = delete;

  bool is_sound() const noexcept { return findings_.empty(); }
  const std::vector<Finding>& findings() const noexcept { return findings_; }

  // As a line of problems.txt.
  std::string line(const Finding& finding) const;

  // The path in a mount of the tensor that a finding is on; "" when it is on the file.
  std::string tensor_path(const Finding& finding) const;

 private:
  std::shared_ptr<const Model> model_;
  Tree tree_;
  PathOf path_of_;
  std::vector<Finding> findings_;
};

}  // namespace onnxfs
