// What graphs, functions and training declare beside their nodes, a line each:
//
//     PREFIX: graph = (INPUT, INPUT) -> (OUTPUT)
//     PREFIX: quantization TENSOR = {KEY=TENSOR, KEY=TENSOR}
//     function:DOMAIN/NAME: function = (INPUT, INPUT) -> (OUTPUT) {ATTRIBUTE, ATTRIBUTE=DEFAULT} opset {DOMAIN=VERSION}
//     training:N: initialization NAME = NAME
//     training:N: update NAME = NAME
//
// Names and prefixes are those of graph.txt. What has an order that means nothing is sorted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/wire/window.h"

namespace onnxfs {

// Each appends its lines. Throws Error(EBADMSG) where the file is corrupt.

// Of a GraphProto in `parts`. Inputs and outputs of the main graph, which has no prefix, are in model.json; here are
// only those whose names it cannot hold, because they are not UTF-8.
void append_graph_declarations(wire::Window& window, std::string_view prefix, const std::vector<ByteRange>& parts,
                               std::string& lines);
void append_function_declaration(wire::Window& window, std::string_view prefix, ByteRange function, std::string& lines);
void append_training_declarations(wire::Window& window, std::string_view prefix, ByteRange training,
                                  std::string& lines);

}  // namespace onnxfs
