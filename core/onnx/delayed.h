// Nodes of the onnx-light extension ai.rt.DelayedInitializer (version 1): a tensor whose bytes a runtime reads from a
// file when it needs them. Six attributes say all: shape (INTS), dtype (INT), filename (STRING), offset (INT), and two
// devices, which mean nothing here. There is no length: it follows from shape and type, sub-byte types packed. Any
// type but STRING.
#pragma once

#include <string>
#include <vector>

#include "core/onnx/catalog_builder.h"

namespace onnxfs {

constexpr std::string_view delayed_domain = "ai.rt";
constexpr std::string_view delayed_op_type = "DelayedInitializer";

struct DelayedInitializer {
  Tensor tensor;
  std::vector<int64_t> dims;
  std::vector<Remark> remarks;
};

// Of the NodeProto at `node` with the AttributeProtos at `attributes`. A relative filename is taken as relative to the
// model's folder (runtimes take it as relative to where they happen to run), under the rules of external data. A tensor
// without elements opens no file. What is refused or missing makes the tensor broken.
DelayedInitializer read_delayed(CatalogBuilder& builder, ByteRange node, const std::vector<ByteRange>& attributes);

}  // namespace onnxfs
