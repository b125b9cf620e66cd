#include "core/onnx/catalog.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/onnx/settle.h"
#include "core/wire/reader.h"

namespace onnxfs {

using wire::Field;
using wire::Reader;
using wire::Type;

class CatalogScanner {
 public:
  CatalogScanner(const SourcePtr& file, DataFiles files) : window_(file), files_(std::move(files)) {}

  Catalog run() && {
    scan_model();
    for (const ByteRange graph : catalog_.graphs_) scan_graph(graph);
    remark_on_duplicates();
    catalog_.data_files_ = std::move(files_).take();
    return std::move(catalog_);
  }

 private:
  // Top level first, without entering anything: whether this is a model at all should be known before a byte of
  // something else is taken for a graph.
  void scan_model() {
    if (window_.size() == 0) fail(EINVAL, "is empty");
    Reader reader(window_, {0, window_.size()});
    for (Field field; reader.next(field);) {
      if (field.is(field::model::producer_name, Type::varint)) {
        fail(EINVAL, "is no model: it looks like a single tensor (a TensorProto)");
      }
      if (field.is(field::model::graph, Type::bytes)) catalog_.graphs_.push_back(field.payload);
      if (field.is(field::model::functions, Type::bytes)) ++catalog_.counts_.functions;
      if (field.is(field::model::training_info, Type::bytes)) ++catalog_.counts_.training_infos;
    }
    if (catalog_.graphs_.empty() && catalog_.counts_.functions == 0 && catalog_.counts_.training_infos == 0) {
      fail(EINVAL, "is no ONNX model: it has no graph");
    }
  }

  void scan_graph(ByteRange graph) {
    Counts& counts = catalog_.counts_;
    Reader reader(window_, graph);
    for (Field field; reader.next(field);) {
      if (field.type != Type::bytes) continue;
      switch (field.number) {
        case field::graph::node: ++counts.nodes; break;
        case field::graph::sparse_initializer: ++counts.sparse_initializers; break;
        case field::graph::value_info: ++counts.value_infos; break;
        case field::graph::initializer:
          ++counts.initializers;
          add(field.payload, Kind::initializer);
          break;
        default: break;
      }
    }
  }

  void add(ByteRange message, Kind kind) {
    if (catalog_.tensors_.size() == Tensor::no_index) fail(EOVERFLOW, "has more tensors than can be numbered");
    const auto index = static_cast<uint32_t>(catalog_.tensors_.size());
    fields_.clear();
    fields_.scan(window_, message);
    const std::string_view name = keep_text(fields_.name);
    remarks_.clear();
    Tensor& tensor = catalog_.tensors_.emplace_back(settle(fields_, message, window_, files_, remarks_));
    tensor.kind = kind;
    tensor.name = name;
    tensor.dims = keep_dims();
    for (Remark& remark : remarks_) {
      if (remark.broken) tensor.problem = static_cast<uint32_t>(catalog_.findings_.size());
      catalog_.findings_.push_back({index, std::move(remark.text), remark.offset});
    }
  }

  std::string_view keep_text(ByteRange range) {
    if (range.empty()) return {};
    auto* kept = static_cast<char*>(catalog_.arena_->allocate(range.size(), alignof(char)));
    const std::span<char> text(kept, range.size());
    window_.copy(range.begin, std::as_writable_bytes(text));
    return {kept, text.size()};
  }

  std::span<const int64_t> keep_dims() {
    const auto& dims = fields_.dims;
    if (dims.empty()) return {};
    auto* kept = static_cast<int64_t*>(catalog_.arena_->allocate(dims.size() * sizeof(int64_t), alignof(int64_t)));
    std::ranges::copy(dims, kept);
    return {kept, dims.size()};
  }

  // By hash, so that it costs eight bytes a tensor and not a second copy of all names.
  void remark_on_duplicates() {
    const auto& tensors = catalog_.tensors_;
    std::vector<std::pair<uint64_t, uint32_t>> by_hash;
    by_hash.reserve(tensors.size());
    for (const Tensor& tensor : tensors) {
      by_hash.emplace_back(XXH3_64bits(tensor.name.data(), tensor.name.size()), by_hash.size());
    }
    std::ranges::sort(by_hash);
    std::vector<uint32_t> repeated;
    for (size_t i = 1; i < by_hash.size(); ++i) {
      const uint32_t first = by_hash[i - 1].second, second = by_hash[i].second;
      if (by_hash[i - 1].first == by_hash[i].first && tensors[first].name == tensors[second].name) {
        repeated.push_back(second);
      }
    }
    std::ranges::sort(repeated);
    for (const uint32_t index : repeated) {
      catalog_.findings_.push_back({index, "an earlier initializer has the same name; runtimes take the last of them",
                                    tensors[index].message.begin});
    }
  }

  wire::Window window_;
  DataFiles files_;
  Catalog catalog_;
  TensorFields fields_;
  std::vector<Remark> remarks_;
};

Catalog Catalog::scan(const SourcePtr& file, DataFiles files) { return CatalogScanner(file, std::move(files)).run(); }

}  // namespace onnxfs
