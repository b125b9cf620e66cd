#pragma once

#include <string>

#include "core/onnx/model.h"

namespace onnxfs {

// graph.txt: a line a node (see NodeLine), in file order; the nodes of a nested graph follow the node that holds it,
// each behind "NODE.ATTRIBUTE: ". Then the functions and training graphs of the model, behind "function:DOMAIN/NAME: "
// and "training:N.initialization: ". Made to be diffed: nothing in it depends on where in the file something stands.
//
// Reads all nodes, and no payload. Throws Error(EIO) where a node is corrupt, with the offset.
std::string graph_txt(const Model& model);

// What two models are compared by: graph.txt, where strings of any length are told by their hash, and what is declared
// beside the nodes (see declarations.h). Costs and throws as graph_txt does; long strings are read.
struct GraphTexts {
  std::string nodes;
  std::string declarations;
};
GraphTexts graph_texts(const Model& model);

}  // namespace onnxfs
