#pragma once

#include <deque>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "core/onnx/data_files.h"
#include "core/onnx/root.h"
#include "core/onnx/section.h"
#include "core/onnx/tensor.h"

namespace onnxfs {

// Something that a person should know about a model: of a tensor, or of the file.
struct Finding {
  uint32_t tensor = Tensor::no_index;
  std::string text;                // one printable line
  std::optional<uint64_t> offset;  // in the model file, of what it is about
};

struct Counts {
  uint64_t nodes = 0;  // of the main graph
  uint64_t initializers = 0;
  uint64_t sparse_initializers = 0;
  uint64_t value_infos = 0;
  uint64_t functions = 0;
  uint64_t training_infos = 0;
};

// All tensors of a model file, in file order, and where its parts stand. Made by one scan (scan.h) that touches tags,
// lengths and names; what a person asks for later (documentation, nodes' texts) is read again from the ranges kept
// here.
//
// Immutable after the scan; any number of threads may use it.
class Catalog {
 public:
  Root root() const noexcept { return root_; }
  const std::deque<Tensor>& tensors() const noexcept { return tensors_; }
  const std::vector<Section>& sections() const noexcept { return sections_; }
  const std::vector<Finding>& findings() const noexcept { return findings_; }
  const std::vector<DataFile>& data_files() const noexcept { return data_files_; }
  const Counts& counts() const noexcept { return counts_; }

  // The occurrences of the main graph in the file: one, in most files; their contents are one graph.
  const std::vector<ByteRange>& graphs() const noexcept { return graphs_; }

  // All of what holds the tensor, where it stands in the file.
  std::span<const ByteRange> pieces(const Tensor& tensor) const noexcept;

  // The shape of the sparse tensor that this tensor is the values or indices of; null for others.
  const std::span<const int64_t>* dense_shape(uint32_t tensor) const noexcept;

 private:
  friend class CatalogBuilder;
  Catalog() = default;

  // Of the two tensors that begin with this one.
  struct DenseShape {
    uint32_t first;
    std::span<const int64_t> dims;
  };

  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena_ =
      std::make_unique<std::pmr::monotonic_buffer_resource>();  // names and shapes
  std::deque<Tensor> tensors_;
  std::vector<Section> sections_;
  std::vector<Finding> findings_;
  std::vector<DataFile> data_files_;
  std::vector<std::vector<ByteRange>> scattered_;
  std::vector<DenseShape> dense_shapes_;
  std::vector<ByteRange> graphs_;
  Counts counts_;
  Root root_ = Root::model;
};

}  // namespace onnxfs
