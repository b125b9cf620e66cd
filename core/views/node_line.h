#pragma once

#include <string>
#include <vector>

#include "core/wire/window.h"

namespace onnxfs {

// A graph that an attribute of a node holds.
struct NestedGraph {
  std::string attribute;         // "then_branch"; of a list "branches/0"
  std::vector<ByteRange> parts;  // a message field that occurs twice is one message in two parts
};

// A node on one line:
//
//     OUTPUT, OUTPUT = DOMAIN.OP(INPUT, INPUT) {ATTRIBUTE=VALUE, ATTRIBUTE=VALUE} # NAME
//
// Attributes are sorted by name, because their order means nothing and differs between exporters. Long lists and
// strings are shortened to their beginning, length and hash, tensors to type and shape; a type is written as in
// model.json. A name that would be hard to read in such a line is written as a JSON string (exact_json_quote), so that
// no two names are written alike.
struct NodeLine {
  std::string label;  // the node's name, else its first output, else ""
  std::string text;
  std::vector<NestedGraph> graphs;  // in the order of their attributes in the file
};

// Whether a string of over a megabyte is told by its beginning and length, or by its hash too, which reads it.
enum class LongStrings { by_length, by_hash };

// Of the NodeProto at `node`. Payloads of tensors are not touched. Throws Error(EBADMSG) where it is corrupt.
NodeLine node_line(wire::Window& window, ByteRange node, LongStrings long_strings = LongStrings::by_length);

// "ATTRIBUTE=VALUE", of the AttributeProto at `attribute`, as node lines have it.
std::string attribute_text(wire::Window& window, ByteRange attribute, LongStrings long_strings);

// A name as node lines write it; no two names alike.
std::string plain_name(std::string_view name);

}  // namespace onnxfs
