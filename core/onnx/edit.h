// What has been changed of a model's tensors since its file was written.
#pragma once

#include <atomic>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/bytes/mutex.h"
#include "core/bytes/rope.h"

namespace onnxfs {

// The changes to one tensor; what is not set is as the file has it. Immutable.
struct TensorEdit {
  std::optional<Rope> payload;  // the whole of it; of its old size, but for strings
  std::optional<std::vector<int64_t>> dims;
  std::optional<std::string> doc_string;
  timespec at = {};  // of the last change
};

using TensorEditPtr = std::shared_ptr<const TensorEdit>;  // null: unedited

// The edits of a model at one moment, by tensor.
using Edits = std::map<uint32_t, TensorEditPtr>;

// The current edits of a model. Any number of threads may use one: what is found is a snapshot.
class EditTable {
 public:
  TensorEditPtr find(uint32_t tensor) const;

  Edits snapshot() const;
  size_t size() const;

  // How often the edits of a tensor, or of any, have changed: 0 when never, and then never again.
  uint64_t version(uint32_t tensor) const;
  uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }

  // Null takes the edit away.
  void put(uint32_t tensor, TensorEditPtr edit);

  // Puts the same edit, whose bytes now stand elsewhere: no change.
  void relocate(uint32_t tensor, TensorEditPtr edit);

 private:
  struct Slot {
    TensorEditPtr edit;
    uint64_t version = 0;
  };

  mutable SharedMutex mutex_;
  std::unordered_map<uint32_t, Slot> slots_ ONNXFS_GUARDED_BY(mutex_);  // also of tensors whose edits were taken away
  std::atomic<uint64_t> version_ = 0;  // so that nobody waits to learn that nothing was edited
};

}  // namespace onnxfs
