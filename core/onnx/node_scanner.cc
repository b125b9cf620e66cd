#include "core/onnx/node_scanner.h"

#include <fmt/format.h>

#include "core/onnx/delayed.h"
#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

constexpr std::string_view machine_learning_domain = "ai.onnx.ml";

// Shorter lists are parameters (strides, axes), unless they are of that domain.
constexpr uint64_t shortest_weights = 64;

// AttributeProto.AttributeType.
enum AttributeType : uint64_t {
  type_float = 1,
  type_int = 2,
  type_string = 3,
  type_tensor = 4,
  type_graph = 5,
  type_floats = 6,
  type_ints = 7,
  type_strings = 8,
  type_tensors = 9,
  type_graphs = 10,
  type_sparse_tensor = 11,
  type_sparse_tensors = 12,
};

Tensor plain_tensor(int32_t data_type, ByteRange message, uint64_t elements, uint64_t nbytes) {
  Tensor tensor;
  tensor.kind = Kind::attribute;
  tensor.storage = Storage::attribute;
  tensor.data_type = data_type;
  tensor.message = message;
  tensor.elements = elements;
  tensor.elements_known = true;
  tensor.nbytes = nbytes;
  return tensor;
}

}  // namespace

void NodeScanner::scan(GraphPlace& graph, ByteRange node, uint64_t position, std::vector<FoundGraph>& found) {
  read_header(node);
  if (domain_ == delayed_domain && op_type_ == delayed_op_type) return scan_delayed(graph, position, node);
  if (attributes_.empty()) return;
  const bool is_constant = op_type_ == "Constant" && (domain_.empty() || domain_ == "ai.onnx");
  NodePlace place{&graph, position, {}, {}};
  for (const ByteRange range : attributes_) {
    fields_.clear();
    fields_.scan(builder_.window(), range);
    if (fields_.is_reference) continue;
    scan_attribute(place, range, is_constant, is_constant || domain_ == machine_learning_domain, found);
  }
}

void NodeScanner::scan_default(uint32_t defaults, ByteRange attribute, std::vector<FoundGraph>& found) {
  fields_.clear();
  fields_.scan(builder_.window(), attribute);
  NodePlace place{nullptr, 0, defaults, defaults};
  // As of any node: the default of an axis is a parameter and no weight.
  scan_attribute(place, attribute, false, false, found);
}

void NodeScanner::read_header(ByteRange node) {
  wire::Window& window = builder_.window();
  name_ = {};
  output_.reset();
  op_type_.clear();
  domain_.clear();
  attributes_.clear();
  Reader reader(window, node);
  for (Field field; reader.next(field);) {
    if (field.type != Type::bytes) continue;
    switch (field.number) {
      case field::node::output:
        if (!output_) output_ = field.payload;
        break;
      case field::node::name: name_ = field.payload; break;
      case field::node::op_type: op_type_ = window.text(field.payload); break;
      case field::node::domain: domain_ = window.text(field.payload); break;
      case field::node::attribute: attributes_.push_back(field.payload); break;
      default: break;
    }
  }
}

// What the node is called: its name, else its first output, else its position.
std::string NodeScanner::label(uint64_t position) {
  if (!name_.empty()) return builder_.window().text(name_);
  if (output_ && !output_->empty()) return builder_.window().text(*output_);
  return fmt::format("node_{}", position);
}

uint32_t NodeScanner::attributes_of(NodePlace& place) {
  if (!place.attributes) {
    const uint32_t all = builder_.label(place.graph->attributes, place.graph->section, "attributes");
    place.attributes = builder_.add_section(all, Section::Kind::thing, label(place.position));
  }
  return *place.attributes;
}

uint32_t NodeScanner::subgraphs_of(NodePlace& place) {
  if (!place.subgraphs) {
    const uint32_t all = builder_.label(place.graph->subgraphs, place.graph->section, "subgraphs");
    place.subgraphs = builder_.add_section(all, Section::Kind::thing, label(place.position));
  }
  return *place.subgraphs;
}

void NodeScanner::scan_attribute(NodePlace& place, ByteRange range, bool every_single, bool every_list,
                                 std::vector<FoundGraph>& found) {
  const std::string name = builder_.window().text(fields_.name);
  attribute_at_ = range.begin;
  add_tensors(place, name);
  add_lists(place, range, name, every_list);
  if (every_single) add_singles(place, name);
  add_graphs(place, name, found);
}

void NodeScanner::add_tensors(NodePlace& place, std::string_view name) {
  if (!fields_.tensor.empty()) {
    builder_.add_tensor(attributes_of(place), name, Kind::attribute, fields_.tensor);
    check_type(type_tensor, "a tensor");
  }
  if (!fields_.tensors.empty()) {
    const uint32_t list = builder_.add_section(attributes_of(place), Section::Kind::thing, name);
    for (size_t i = 0; i < fields_.tensors.size(); ++i) {
      builder_.add_tensor(list, fmt::to_string(i), Kind::attribute, {&fields_.tensors[i], 1});
    }
    check_type(type_tensors, "tensors");
  }
  if (!fields_.sparse_tensor.empty()) {
    builder_.add_sparse(attributes_of(place), name, fields_.sparse_tensor);
    check_type(type_sparse_tensor, "a sparse tensor");
  }
  if (!fields_.sparse_tensors.empty()) {
    const uint32_t list = builder_.add_section(attributes_of(place), Section::Kind::thing, name);
    for (size_t i = 0; i < fields_.sparse_tensors.size(); ++i) {
      builder_.add_sparse(list, fmt::to_string(i), {&fields_.sparse_tensors[i], 1});
    }
    check_type(type_sparse_tensors, "sparse tensors");
  }
}

void NodeScanner::add_lists(NodePlace& place, ByteRange range, std::string_view name, bool every_list) {
  const auto is_weights = [every_list](const AttributeFields::List& list) {
    return list.entries != 0 && (every_list || list.entries >= shortest_weights);
  };
  const auto add = [&](int32_t data_type, const AttributeFields::List& list, uint64_t nbytes) {
    Tensor tensor = plain_tensor(data_type, range, list.entries, nbytes);
    if (list.in_one_piece && !list.packed.empty()) {
      tensor.data = list.packed;
      tensor.in_one_piece = true;
    }
    std::vector<Remark> remarks;
    if (list.longest > longest_string) {
      remarks.push_back({"a string is so long that no length of four bytes says it", range.begin, true});
    }
    const auto length = static_cast<int64_t>(list.entries);
    builder_.add_plain(attributes_of(place), name, tensor, {&length, 1}, std::move(remarks));
  };
  if (is_weights(fields_.floats)) {
    add(float_type, fields_.floats, 4 * fields_.floats.entries);
    check_type(type_floats, "floats");
  }
  if (is_weights(fields_.ints)) {
    add(int64_type, fields_.ints, 8 * fields_.ints.entries);
    check_type(type_ints, "ints");
  }
  if (is_weights(fields_.strings)) {
    add(string_type, fields_.strings, string_length_prefix * fields_.strings.entries + fields_.strings.bytes);
    check_type(type_strings, "strings");
  }
}

void NodeScanner::add_singles(NodePlace& place, std::string_view name) {
  const auto add = [&](int32_t data_type, ByteRange field, uint64_t nbytes) -> void {
    builder_.add_plain(attributes_of(place), name, plain_tensor(data_type, field, 1, nbytes), {}, {});
  };
  if (fields_.f) {
    Tensor tensor = plain_tensor(float_type, *fields_.f, 1, 4);
    tensor.data = {fields_.f->end - 4, fields_.f->end};
    tensor.in_one_piece = true;
    builder_.add_plain(attributes_of(place), name, tensor, {}, {});
    check_type(type_float, "a float");
  }
  if (fields_.i) {
    add(int64_type, *fields_.i, 8);
    check_type(type_int, "an int");
  }
  if (fields_.s) {
    Reader reader(builder_.window(), *fields_.s);
    Field field;
    reader.next(field);
    add(string_type, *fields_.s, string_length_prefix + field.payload.size());
    check_type(type_string, "a string");
  }
}

void NodeScanner::add_graphs(NodePlace& place, std::string_view name, std::vector<FoundGraph>& found) {
  if (!fields_.graph.empty()) {
    found.push_back({builder_.add_section(subgraphs_of(place), Section::Kind::graph, name), fields_.graph});
    check_type(type_graph, "a graph", false);
  }
  if (!fields_.graphs.empty()) {
    const uint32_t list = builder_.add_section(subgraphs_of(place), Section::Kind::graphs, name);
    for (size_t i = 0; i < fields_.graphs.size(); ++i) {
      found.push_back({builder_.add_section(list, Section::Kind::graph, fmt::to_string(i)), {fields_.graphs[i]}});
    }
    check_type(type_graphs, "graphs", false);
  }
}

// Of the tensor that was added last, or of the file.
void NodeScanner::check_type(uint64_t expected, std::string_view holds, bool is_tensor) {
  if (fields_.type == expected) return;
  std::string text = fields_.type ? fmt::format("has type {}, but holds {}", *fields_.type, holds)
                                  : fmt::format("has no type, and holds {}", holds);
  if (is_tensor) builder_.remark("its attribute " + text, attribute_at_);
  else builder_.remark_on_file("an attribute " + text, attribute_at_);
}

void NodeScanner::scan_delayed(GraphPlace& place, uint64_t position, ByteRange node) {
  DelayedInitializer delayed = read_delayed(builder_, node, attributes_);
  const uint32_t section = builder_.label(place.delayed, place.section, "delayed");
  const std::string name = output_ && !output_->empty() ? builder_.window().text(*output_) : label(position);
  builder_.add_plain(section, name, delayed.tensor, delayed.dims, std::move(delayed.remarks));
}

}  // namespace onnxfs
