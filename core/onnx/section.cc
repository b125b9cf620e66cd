#include "core/onnx/section.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxfs {

std::string scope_of(const std::vector<Section>& sections, uint32_t number) {
  std::vector<uint32_t> chain;  // outermost first, without the root
  for (; number != 0; number = sections[number].parent) chain.push_back(number);
  std::ranges::reverse(chain);
  std::string scope = "graph";
  for (const uint32_t link : chain) {
    const Section& section = sections[link];
    const Section& parent = sections[section.parent];
    switch (section.kind) {
      case Section::Kind::function:
        scope = fmt::format("function:{}/{}", section.name.substr(0, section.domain_length),
                            section.name.substr(section.domain_length + (section.domain_length != 0)));
        break;
      case Section::Kind::training: scope = fmt::format("training:{}.{}", parent.name, section.name); break;
      case Section::Kind::graph: {
        // One of a list stands in the list's section, that in its node's.
        const bool listed = parent.kind == Section::Kind::graphs;
        const Section& node = listed ? sections[parent.parent] : parent;
        scope += listed ? fmt::format("/{}.{}/{}", node.name, parent.name, section.name)
                        : fmt::format("/{}.{}", node.name, section.name);
        break;
      }
      default: break;
    }
  }
  return scope;
}

std::optional<NodeAttribute> node_attribute_of(const std::vector<Section>& sections, uint32_t number,
                                               std::string_view leaf) {
  // attributes/NODE/leaf, or with a section for the attribute attributes/NODE/ATTRIBUTE/…
  std::string_view attribute = leaf;
  for (; number != 0; number = sections[number].parent) {
    const Section& section = sections[number];
    const Section& parent = sections[section.parent];
    if (parent.kind == Section::Kind::label && parent.name == "attributes")
      return NodeAttribute{section.name, attribute};
    attribute = section.name;
  }
  return std::nullopt;
}

}  // namespace onnxfs
