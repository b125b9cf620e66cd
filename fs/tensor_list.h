// What `onnxfs ls` says of a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fs/edited_model.h"
#include "fs/tensor_totals.h"

namespace onnxfs {

struct ListedTensor {
  uint32_t tensor = 0;
  std::string path;     // in the mount, without a suffix
  uint64_t nbytes = 0;  // of its payload with the edits
};

// Tensors of a model in the order in which they are to be listed, and what they sum up to. A broken one counts as a
// tensor of no bytes: what it claims is nowhere.
struct TensorList {
  std::vector<ListedTensor> tensors;
  Totals by_dtype;
  Totals by_layer;
  uint64_t broken = 0;
};

enum class ListOrder {
  file,  // as they stand in the model; layers by when they first occur
  path,  // numbers in it by their value: "layers.2" before "layers.10"
  size,  // the largest first
};

// Of those that `patterns` name, as select_tensors takes them.
TensorList list_tensors(const EditedModel& model, const std::vector<std::string>& patterns, ListOrder order);

std::vector<Total> sorted(std::vector<Total> totals, ListOrder order);

// For people: a line a tensor. On a terminal of so many `columns`, paths are cut in the middle where there is no room
// for them; without, they are whole. A long one has the exact size, where the payload stands ("model.onnx+1311"), the
// name in the file where the path does not tell it, and what is edited or broken.
std::string list_text(const EditedModel& model, const TensorList& list, bool is_long, std::optional<size_t> columns);

// "64 tensors, 45.2 MB" (and how many are broken), and a line a type; or with a line a layer as well, and the shares of
// both drawn.
std::string totals_text(const TensorList& list);
std::string drawn_totals_text(const TensorList& list, ListOrder order, std::optional<size_t> columns);

// For programs: an object of "model", "tensors" (unless only totals are asked for), and "totals"; a tensor a line. Its
// keys are those of the JSON that a tensor has in a mount, "path", and "bin", which is the path of its .bin. "changed":
// a list of what an edit changes, or null.
std::string list_json(const EditedModel& model, const TensorList& list, ListOrder order, bool only_totals);

}  // namespace onnxfs
