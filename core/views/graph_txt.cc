#include "core/views/graph_txt.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/views/declarations.h"
#include "core/views/node_line.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

// Protobuf's parsers allow 33 nested graphs. A limit keeps a file of nothing but nested graphs, each line of which
// repeats the names of all around it, from growing with the square of its size.
constexpr size_t deepest = 100;

// A name in a prefix, which stands on many lines: long ones are cut, and told apart by their hash.
std::string short_name(std::string_view name) {
  constexpr size_t longest = 120;
  if (name.size() <= longest) return plain_name(name);
  return fmt::format("{}~{:016x}", plain_name(name.substr(0, longest)), XXH3_64bits(name.data(), name.size()));
}

class GraphText {
 public:
  GraphText(const Model& model, LongStrings long_strings, std::string* declarations)
      : model_(model), window_(model.file()), long_strings_(long_strings), declarations_(declarations) {}

  std::string run() {
    add_graph("", model_.catalog().graphs());
    Reader reader(window_, {0, window_.size()});
    uint64_t trainings = 0;
    for (Field field; reader.next(field);) {
      if (field.is(field::model::functions, Type::bytes)) add_function(field.payload);
      if (field.is(field::model::training_info, Type::bytes)) add_training(field.payload, trainings++);
    }
    return std::move(text_);
  }

 private:
  // A graph, or the nodes of a function, that is being walked.
  struct Level {
    std::string prefix;  // "NODE.ATTRIBUTE/NODE.ATTRIBUTE"; "" for the main graph
    std::vector<ByteRange> parts;
    uint32_t node_field;
    size_t depth = 0;
    size_t part = 0;
    uint64_t at = 0;     // in that part
    uint64_t nodes = 0;  // so far
  };

  void add_graph(std::string prefix, std::vector<ByteRange> parts) {
    if (declarations_ != nullptr) append_graph_declarations(window_, prefix, parts, *declarations_);
    walk({std::move(prefix), std::move(parts), field::graph::node});
  }

  void add_function(ByteRange function) {
    std::string name, domain, overload;
    Reader reader(window_, function);
    for (Field field; reader.next(field);) {
      if (field.is(field::function::name, Type::bytes)) name = window_.text(field.payload);
      if (field.is(field::function::domain, Type::bytes)) domain = window_.text(field.payload);
      if (field.is(field::function::overload, Type::bytes)) overload = window_.text(field.payload);
    }
    std::string prefix = fmt::format("function:{}/{}", short_name(domain), short_name(name));
    if (!overload.empty()) prefix.append(":").append(short_name(overload));
    if (declarations_ != nullptr) append_function_declaration(window_, prefix, function, *declarations_);
    walk({std::move(prefix), {function}, field::function::node});
  }

  void add_training(ByteRange training, uint64_t number) {
    if (declarations_ != nullptr) {
      append_training_declarations(window_, fmt::format("training:{}", number), training, *declarations_);
    }
    std::vector<ByteRange> initialization, algorithm;
    Reader reader(window_, training);
    for (Field field; reader.next(field);) {
      if (field.is(field::training::initialization, Type::bytes)) initialization.push_back(field.payload);
      if (field.is(field::training::algorithm, Type::bytes)) algorithm.push_back(field.payload);
    }
    add_graph(fmt::format("training:{}.initialization", number), std::move(initialization));
    add_graph(fmt::format("training:{}.algorithm", number), std::move(algorithm));
  }

  void walk(Level outermost) {
    std::vector<Level> open;
    open.push_back(std::move(outermost));
    while (!open.empty()) {
      Level& level = open.back();
      ByteRange node;
      if (!next_node(level, node)) {
        open.pop_back();
        continue;
      }
      NodeLine line = node_line(window_, node, long_strings_);
      const std::string label = line.label.empty() ? fmt::format("node_{}", level.nodes) : line.label;
      ++level.nodes;
      if (!level.prefix.empty()) text_.append(level.prefix).append(": ");
      text_.append(line.text).append("\n");
      push_nested(open, label, std::move(line.graphs));
    }
  }

  // The graphs of a node of the level on top. Last first, so that the first is on top of the stack.
  void push_nested(std::vector<Level>& open, const std::string& label, std::vector<NestedGraph> graphs) {
    if (graphs.empty()) return;
    const size_t depth = open.back().depth + 1;
    std::string prefix = open.back().prefix;
    prefix.append(prefix.empty() ? "" : "/").append(short_name(label));
    if (depth > deepest) {
      text_.append(prefix).append(": graphs nested deeper than this are not listed\n");
      return;
    }
    for (auto graph = graphs.rbegin(); graph != graphs.rend(); ++graph) {
      std::string inner = fmt::format("{}.{}", prefix, short_name(graph->attribute));
      if (declarations_ != nullptr) append_graph_declarations(window_, inner, graph->parts, *declarations_);
      open.push_back({std::move(inner), std::move(graph->parts), field::graph::node, depth});
    }
  }

  bool next_node(Level& level, ByteRange& node) {
    for (; level.part < level.parts.size(); ++level.part, level.at = 0) {
      const ByteRange part = level.parts[level.part];
      Reader reader(window_, {part.begin + level.at, part.end});
      for (Field field; reader.next(field);) {
        if (!field.is(level.node_field, Type::bytes)) continue;
        level.at = reader.offset() - part.begin;
        node = field.payload;
        return true;
      }
    }
    return false;
  }

  const Model& model_;
  wire::Window window_;
  LongStrings long_strings_;
  std::string* declarations_;  // null when they are not wanted
  std::string text_;
};

std::string text_of(const Model& model, LongStrings long_strings, std::string* declarations) {
  try {
    return GraphText(model, long_strings, declarations).run();
  } catch (const Error& error) {
    if (error.code() != EBADMSG) throw;
    fail(EIO, "the nodes of {}: {}", model.name(), error.what());
  }
}

}  // namespace

std::string graph_txt(const Model& model) { return text_of(model, LongStrings::by_length, nullptr); }

GraphTexts graph_texts(const Model& model) {
  GraphTexts texts;
  texts.nodes = text_of(model, LongStrings::by_hash, &texts.declarations);
  return texts;
}

}  // namespace onnxfs
