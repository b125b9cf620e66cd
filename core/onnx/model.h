#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/bytes/file_source.h"
#include "core/bytes/mutex.h"
#include "core/bytes/rope.h"
#include "core/onnx/catalog.h"

namespace onnxfs {

// A model file that was opened and found sound: its catalog, and the payloads of its tensors as ropes. Never loads a
// payload. Any number of threads may use one.
class Model {
 public:
  // Opens the file at `path`, and the data files that it names. Throws Error with a sentence that begins with the
  // path: what the system said, what the file is instead of a model, or where it is truncated or corrupt.
  static std::shared_ptr<const Model> open(const std::string& path);

  const Catalog& catalog() const noexcept { return catalog_; }

  // Which message the file is. Of one that is a sequence or an optional, the model beside the folder of test data that
  // it lies in says which, if there is one.
  Root root() const noexcept { return root_; }

  const std::shared_ptr<const FileSource>& file() const noexcept { return file_; }
  const std::string& name() const noexcept { return name_; }  // the file's, without its folder
  const std::string& path() const noexcept { return path_; }  // that it was opened by, absolute

  // The payload of a tensor. Throws Error(EIO) for one that is broken, with the reason; for one in a long varint field
  // that includes what only reading it shows, which is a finding from then on.
  Rope payload(uint32_t tensor) const;

  // Why the tensor is broken, as far as known; "" when it is not.
  std::string problem(uint32_t tensor) const;

  // Those of the catalog, those of its data files, and those that reading brought up since.
  std::vector<Finding> findings() const;

  bool has_findings() const;

  // When reading last brought one up.
  std::optional<timespec> found_late_at() const;

  // Where the bytes of a tensor in one piece stand, as the JSON sibling names it.
  const std::string& file_name_of(const Tensor& tensor) const;

 private:
  Model(std::shared_ptr<const FileSource> file, const std::string& path, Catalog catalog, Root root);
  Rope typed_payload(uint32_t index) const;
  void found_late(uint32_t index, const std::string& text, bool broken) const ONNXFS_REQUIRES(mutex_);

  // What only reading showed. Of a tensor that is not broken, its entries are odd.
  struct Late {
    std::string text;
    bool broken;
  };

  std::shared_ptr<const FileSource> file_;
  std::string path_;
  std::string name_;
  Catalog catalog_;
  Root root_;
  std::vector<Finding> gaps_;

  mutable std::atomic<bool> any_found_late_ = false;  // so that nobody waits to learn that nothing was

  mutable Mutex mutex_;
  // Of long typed fields: their indices are worth keeping.
  mutable std::map<uint32_t, Rope> decoded_ ONNXFS_GUARDED_BY(mutex_);
  mutable std::map<uint32_t, Late> found_late_ ONNXFS_GUARDED_BY(mutex_);  // by tensor
  mutable std::optional<timespec> found_late_at_ ONNXFS_GUARDED_BY(mutex_);
};

}  // namespace onnxfs
