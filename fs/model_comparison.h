#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/analysis/difference.h"
#include "core/analysis/graph_difference.h"
#include "core/analysis/header_difference.h"
#include "core/analysis/pairing.h"
#include "core/analysis/payload_place.h"
#include "fs/edited_model.h"

namespace onnxfs {

// What a comparison tells of two tensors that belong together, or of one that has no other.
struct TensorComparison {
  // One of the two sides, as far as it is there.
  struct Side {
    std::string path;
    std::string dtype;
    std::string shape;
    std::string dense_shape;  // of the sparse tensor that it is the values or indices of; "" of others
    std::string name;         // that nodes know it by; "" of a tensor that they do not
  };
  std::optional<Side> a, b;
  std::optional<Difference> difference;  // none when there is nothing to compare by element
  std::string trouble;                   // why they cannot be compared: one of them is broken

  bool dtype_changed() const { return a && b && a->dtype != b->dtype; }
  bool shape_changed() const { return a && b && (a->shape != b->shape || a->dense_shape != b->dense_shape); }
  bool name_changed() const { return a && b && a->path == b->path && a->name != b->name; }  // paths may hide it

  // One that has no other, another shape or name, a changed element. Another data type too, unless a tolerance was
  // given: then it is the values that count.
  bool is_different(const Tolerance& tolerance) const;
};

// Compares two models, tensor by tensor. Payloads at one place in one file are equal unread, and what was compared once
// is known where it is met again (tied weights). Used by one thread; those of `workers` help it.
class ModelComparison {
 public:
  // The models outlive this. `patterns` as select_tensors takes them: pairs are compared of which one is named, and a
  // pattern may name tensors of one model only. Throws Error(ENOENT) for one that names none, and as pair_by_path does.
  ModelComparison(const EditedModel& a, const EditedModel& b, const std::vector<std::string>& patterns,
                  std::span<const PrefixMap> maps, const Tolerance& tolerance);

  const std::vector<Pair>& pairs() const noexcept { return pairs_; }
  uint64_t bytes(const Pair& pair) const;  // that comparing them reads at most

  TensorComparison compare(const Pair& pair, Workers& workers);

  // Where tensors of the first model that maps pair with those of another name go by that name.
  struct Graphs {
    GraphDifference nodes, declarations;
    bool empty() const noexcept { return nodes.empty() && declarations.empty(); }
  };
  Graphs graphs() const;
  std::vector<HeaderDifference> header() const;

 private:
  TensorComparison::Side side(const EditedModel& model, uint32_t tensor) const;
  Difference compare_payloads(uint32_t a, uint32_t b, Workers& workers);

  // Of two types, and where in which files.
  struct Known {
    const DataType* type_a;
    const DataType* type_b;
    Difference difference;
  };

  const EditedModel& a_;
  const EditedModel& b_;
  Tolerance tolerance_;
  std::vector<Pair> pairs_;
  std::unordered_multimap<PlacePair, Known, PlacePair::Hash> known_;
};

}  // namespace onnxfs
