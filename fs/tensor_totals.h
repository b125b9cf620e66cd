#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onnxfs {

// How many tensors there are of one sort, and how many bytes their payloads have.
struct Total {
  std::string of;
  uint64_t tensors = 0;
  uint64_t nbytes = 0;
};

// Sums of tensors by some word, in the order in which the words came.
class Totals {
 public:
  // A sum that is more than any number is the largest one: tensors may share bytes, so a file can claim any sum.
  void add(std::string_view of, uint64_t nbytes);

  const std::vector<Total>& list() const noexcept { return list_; }
  Total all() const;

 private:
  std::vector<Total> list_;
  std::unordered_map<std::string, size_t> known_;  // in the list
};

// The layer that a tensor belongs to, from its path in the mount split at "/" and ".": all up to the first part that is
// a number, and if none is, all but the last part. So it ends where a pattern for all of the layer may go on with "*".
//
//     initializers/model.layers.0.self_attn.q_proj.weight    initializers/model.layers.0
//     initializers/conv1.weight                              initializers/conv1
//     attributes/layers.3/attn/Constant_1/value              attributes/layers.3
std::string_view layer_of(std::string_view path);

}  // namespace onnxfs
