#include "core/onnx/graph_scanner.h"

#include "core/onnx/schema.h"
#include "core/onnx/small_message.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

// Protobuf's parsers allow 33 nested graphs. A limit keeps the paths in a file of nothing but nested graphs from
// growing with the square of its size.
constexpr size_t deepest = 100;

}  // namespace

void GraphScanner::scan_graph(uint32_t section, std::vector<ByteRange> parts, bool is_main) {
  Level level{GraphPlace(section), std::move(parts), field::graph::node};
  level.is_main = is_main;
  walk(std::move(level));
}

void GraphScanner::scan_function(uint32_t section, ByteRange function) {
  wire::Window& window = builder_.window();
  std::string name, domain, overload;
  std::vector<ByteRange> defaults;
  Reader reader(window, function);
  for (Field field; reader.next(field);) {
    if (field.is(field::function::name, Type::bytes)) name = window.text(field.payload);
    if (field.is(field::function::domain, Type::bytes)) domain = window.text(field.payload);
    if (field.is(field::function::overload, Type::bytes)) overload = window.text(field.payload);
    if (field.is(field::function::attribute_proto, Type::bytes)) defaults.push_back(field.payload);
  }
  std::string full = domain;
  full.append(domain.empty() ? "" : ".").append(name);
  if (!overload.empty()) full.append(":").append(overload);
  const uint32_t own = builder_.add_section(section, Section::Kind::function, full, domain.size());
  walk({GraphPlace(own), {function}, field::function::node});
  if (defaults.empty()) return;
  const uint32_t place = builder_.add_section(own, Section::Kind::label, "defaults");
  std::vector<FoundGraph> found;
  for (const ByteRange attribute : defaults) nodes_.scan_default(place, attribute, found);
  for (FoundGraph& graph : found) scan_graph(graph.section, std::move(graph.parts), false);
}

void GraphScanner::walk(Level outermost) {
  std::vector<Level> open;
  open.push_back(std::move(outermost));
  std::vector<FoundGraph> found;
  while (!open.empty()) {
    found.clear();
    if (!advance(open.back(), found)) {
      open.pop_back();
    } else if (open.back().depth >= deepest) {
      builder_.remark_on_file("graphs are nested deeper than any reader goes; the innermost are not shown",
                              found.front().parts.front().begin);
    } else {
      // The first is to be walked first, and then to be on top of the stack.
      const size_t depth = open.back().depth + 1;
      for (auto graph = found.rbegin(); graph != found.rend(); ++graph) {
        open.push_back({GraphPlace(graph->section), std::move(graph->parts), field::graph::node, depth});
      }
    }
  }
}

// Goes on until a node with nested graphs was met, or to the end of the level: then it returns false.
bool GraphScanner::advance(Level& level, std::vector<FoundGraph>& found) {
  for (; level.part < level.parts.size(); ++level.part, level.at = 0) {
    const ByteRange part = level.parts[level.part];
    Reader reader(builder_.window(), {part.begin + level.at, part.end});
    for (Field field; reader.next(field);) {
      if (field.type != Type::bytes) continue;
      if (field.number == level.node_field) {
        nodes_.scan(level.place, field.payload, level.nodes++, found);
        if (level.is_main) ++builder_.counts().nodes;
        if (!found.empty()) {
          level.at = reader.offset() - part.begin;
          return true;
        }
      } else if (level.node_field == field::graph::node) {
        scan_graph_field(level, field);
      }
    }
  }
  return false;
}

void GraphScanner::scan_graph_field(Level& level, const wire::Field& field) {
  GraphPlace& place = level.place;
  switch (field.number) {
    case field::graph::initializer:
      builder_.add_tensor(builder_.label(place.initializers, place.section, "initializers"), std::nullopt,
                          Kind::initializer, {&field.payload, 1});
      if (level.is_main) ++builder_.counts().initializers;
      break;
    case field::graph::sparse_initializer:
      builder_.add_sparse(builder_.label(place.sparse_initializers, place.section, "sparse_initializers"), std::nullopt,
                          {&field.payload, 1});
      if (level.is_main) ++builder_.counts().sparse_initializers;
      break;
    case field::graph::value_info:
      if (level.is_main) ++builder_.counts().value_infos;
      break;
    case field::graph::input:
    case field::graph::output:
      require_sound<proto::ValueInfoProto>(builder_.window(), field, "an input or output of a graph");
      break;
    case field::graph::metadata_props:
      require_sound<proto::StringStringEntryProto>(builder_.window(), field, "metadata of a graph");
      break;
    default: break;
  }
}

}  // namespace onnxfs
