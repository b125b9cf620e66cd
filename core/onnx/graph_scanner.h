#pragma once

#include <vector>

#include "core/onnx/catalog_builder.h"
#include "core/onnx/node_scanner.h"
#include "core/wire/reader.h"

namespace onnxfs {

// Walks graphs and functions, and the graphs nested in them, for the tensors in them.
class GraphScanner {
 public:
  explicit GraphScanner(CatalogBuilder& builder) : builder_(builder), nodes_(builder) {}

  // A GraphProto in `parts`: a message field that occurs twice is one message in two parts. What it holds stands in
  // `section`, and is counted if it is the main graph.
  void scan_graph(uint32_t section, std::vector<ByteRange> parts, bool is_main);

  // A FunctionProto; it gets a section of its own in `section`.
  void scan_function(uint32_t section, ByteRange function);

 private:
  // A graph, or a function's nodes, that is being walked.
  struct Level {
    GraphPlace place;
    std::vector<ByteRange> parts;
    uint32_t node_field;
    size_t depth = 0;
    bool is_main = false;
    size_t part = 0;
    uint64_t at = 0;     // in that part, from its begin
    uint64_t nodes = 0;  // so far
  };

  void walk(Level outermost);
  bool advance(Level& level, std::vector<FoundGraph>& found);
  void scan_graph_field(Level& level, const wire::Field& field);

  CatalogBuilder& builder_;
  NodeScanner nodes_;
};

}  // namespace onnxfs
