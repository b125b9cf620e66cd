#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/onnx/catalog.h"
#include "core/onnx/settle.h"
#include "core/onnx/tensor_fields.h"
#include "core/wire/window.h"

namespace onnxfs {

// Where a catalog grows while scanners walk the file. They say what is where; this keeps names, settles what each
// tensor's bytes are, and collects findings. One thread.
class CatalogBuilder {
 public:
  CatalogBuilder(SourcePtr file, DataFiles files);

  wire::Window& window() noexcept { return window_; }
  DataFiles& data_files() noexcept { return files_; }
  Counts& counts() noexcept { return catalog_.counts_; }
  std::vector<ByteRange>& graphs() noexcept { return catalog_.graphs_; }

  void set_root(Root root) noexcept { catalog_.root_ = root; }

  uint32_t add_section(uint32_t parent, Section::Kind kind, std::string_view name, size_t domain_length = 0);

  // A section with a fixed name, made when `known` is not yet one; `known` remembers it.
  uint32_t label(std::optional<uint32_t>& known, uint32_t parent, std::string_view name);

  // The TensorProto that stands in `pieces`: of what does not occur twice there is one. Without a `leaf` it is called
  // by its own name.
  void add_tensor(uint32_t section, std::optional<std::string_view> leaf, Kind kind, std::span<const ByteRange> pieces);

  // The two tensors of the SparseTensorProto that stands in `pieces`, "values" and "indices". Its section is made in
  // `section`, called `name` or else by the name of its values.
  void add_sparse(uint32_t section, std::optional<std::string_view> name, std::span<const ByteRange> pieces);

  // A tensor that is no TensorProto, with all but its section, names and shape filled in. `pieces` are of its message,
  // when it has more than one.
  void add_plain(uint32_t section, std::string_view leaf, Tensor tensor, std::span<const int64_t> dims,
                 std::vector<Remark> remarks, std::span<const ByteRange> pieces = {});

  // Of the tensor that was added last, or of the file.
  void remark(std::string text, uint64_t offset);
  void remark_on_file(std::string text, uint64_t offset);

  Catalog finish() &&;

 private:
  std::string_view keep(std::string_view text);
  std::string_view keep(ByteRange range);
  std::span<const int64_t> keep(std::span<const int64_t> dims);
  Tensor& append(Tensor tensor);
  void scatter(Tensor& tensor, std::span<const ByteRange> pieces);
  void remark_on_duplicates();

  wire::Window window_;
  DataFiles files_;
  Catalog catalog_;
  TensorFields fields_;
  std::vector<Remark> remarks_;
};

}  // namespace onnxfs
