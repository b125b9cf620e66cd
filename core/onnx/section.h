#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onnxfs {

// A place in a model that tensors and other places stand in: the main graph, its initializers, a node, a nested graph.
// Sections form a tree, of which a mount's folders are the image; parents come before their children, and the root is
// number 0.
struct Section {
  enum class Kind : uint8_t {
    root,
    label,       // a place that is always called so: "initializers", "subgraphs", "3"
    thing,       // of which the model has several, each with a name of its own: a node, a list, a sparse tensor
    graph,       // a nested graph, called by its attribute, in the section of its node
    graphs,      // a list of them, likewise; each is a graph in it, called by its number
    function,    // "DOMAIN.NAME:OVERLOAD"
    collection,  // a sequence, optional or map; has a folder even when nothing is in it
    training,    // one graph of a TrainingInfoProto, in the section that has its number
  };

  uint32_t parent = 0;
  Kind kind = Kind::root;
  uint32_t domain_length = 0;  // of a function: how much of its name is the domain
  std::string_view name;       // true bytes

  // Whether no other section has its folder, even if it has the same name.
  bool is_distinct() const noexcept { return kind != Kind::label && kind != Kind::training; }
};

// The `scope` of a tensor in a section: "graph", "function:DOMAIN/NAME" or "training:N.initialization", and then
// "/NODE.ATTRIBUTE" for each nested graph around it, "/NODE.ATTRIBUTE/N" for one of a list.
std::string scope_of(const std::vector<Section>& sections, uint32_t section);

// The node and the attribute that a tensor called `leaf` in a section under "attributes" belongs to; nothing for
// others.
struct NodeAttribute {
  std::string_view node;
  std::string_view attribute;
};
std::optional<NodeAttribute> node_attribute_of(const std::vector<Section>& sections, uint32_t section,
                                               std::string_view leaf);

}  // namespace onnxfs
