#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/onnx/attribute_fields.h"
#include "core/onnx/catalog_builder.h"

namespace onnxfs {

// A graph-like place that nodes stand in (a graph, a function), and the sections in it that have been needed so far.
struct GraphPlace {
  explicit GraphPlace(uint32_t own) : section(own) {}

  uint32_t section;
  std::optional<uint32_t> initializers, sparse_initializers, attributes, subgraphs, delayed;
};

// A nested graph that was found in an attribute: it is for the caller to walk, so that no depth of nesting is a depth
// of calls.
struct FoundGraph {
  uint32_t section;
  std::vector<ByteRange> parts;
};

// Finds the tensors that nodes hold: every attribute that is a tensor or a list of them, sparse ones too; the plain
// numbers and strings of Constant; plain lists where they are weights (of domain ai.onnx.ml, or long); and the data of
// ai.rt.DelayedInitializer. By presence of the field: an attribute whose type says otherwise is remarked on.
class NodeScanner {
 public:
  explicit NodeScanner(CatalogBuilder& builder) : builder_(builder) {}

  // Of the NodeProto at `node`, number `position` in its graph. Appends the graphs that it holds to `found`, in file
  // order. Throws Error(EBADMSG) where the file is corrupt.
  void scan(GraphPlace& place, ByteRange node, uint64_t position, std::vector<FoundGraph>& found);

  // Of the default that a function gives an attribute; it stands in the section `defaults`.
  void scan_default(uint32_t defaults, ByteRange attribute, std::vector<FoundGraph>& found);

 private:
  // Sections of the node that is being scanned, made when something stands in them.
  struct NodePlace {
    GraphPlace* graph = nullptr;  // null for defaults, which stand in a section of their own
    uint64_t position = 0;        // of the node in its graph
    std::optional<uint32_t> attributes, subgraphs;
  };

  void read_header(ByteRange node);
  std::string label(uint64_t position);
  uint32_t attributes_of(NodePlace& place);
  uint32_t subgraphs_of(NodePlace& place);
  // `fields_` are those of the attribute at `range`. Whether single numbers and strings are shown, and short lists.
  void scan_attribute(NodePlace& place, ByteRange range, bool every_single, bool every_list,
                      std::vector<FoundGraph>& found);
  void add_tensors(NodePlace& place, std::string_view name);
  void add_lists(NodePlace& place, ByteRange range, std::string_view name, bool every_list);
  void add_singles(NodePlace& place, std::string_view name);
  void add_graphs(NodePlace& place, std::string_view name, std::vector<FoundGraph>& found);
  void check_type(uint64_t expected, std::string_view holds, bool is_tensor = true);
  void scan_delayed(GraphPlace& place, uint64_t position, ByteRange node);

  CatalogBuilder& builder_;
  AttributeFields fields_;
  uint64_t attribute_at_ = 0;  // where that attribute stands
  // Of the node's header.
  ByteRange name_;
  std::optional<ByteRange> output_;
  std::string op_type_, domain_;
  std::vector<ByteRange> attributes_;
};

}  // namespace onnxfs
