// The tensors of a model by where they stand in its mount.
#pragma once

#include <map>
#include <string>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"
#include "tests/unit/tensor_paths.h"

namespace onnxfs::testing {

// Each tensor's path without a suffix, and its number.
inline std::map<std::string, uint32_t> places(const Model& model) {
  std::map<std::string, uint32_t> result;
  uint32_t number = 0;
  for (const std::string& path : tensor_paths(Tree(model.catalog()))) {
    EXPECT_TRUE(result.emplace(path, number++).second) << path << " twice";
  }
  EXPECT_EQ(number, model.catalog().tensors().size());
  return result;
}

// Each tensor's path and payload; of one that cannot be read "!" and the reason.
inline std::map<std::string, std::string> placed(const Model& model) {
  std::map<std::string, std::string> result;
  for (const auto& [path, index] : places(model)) {
    std::string text;
    const Caught error = caught([&, number = index] { text = model.payload(number).text(); });
    EXPECT_EQ(error.code == 0, model.problem(index).empty()) << path << ": " << error.text;
    result[path] = error.code == 0 ? text : "!" + error.text;
  }
  return result;
}

using Placed = std::map<std::string, std::string>;

// The texts of the findings, in order.
inline std::vector<std::string> findings(const Model& model) {
  std::vector<std::string> texts;
  for (const Finding& finding : model.findings()) texts.push_back(finding.text);
  return texts;
}

// AttributeProto.type, by the kind of value.
namespace attribute_type {
constexpr uint64_t number = 1, integer = 2, string = 3, tensor = 4, graph = 5, numbers = 6, integers = 7, strings = 8,
                   tensors = 9, graphs = 10, sparse = 11, sparses = 12;
}

// An AttributeProto that still lacks its value.
inline Message attribute(std::string_view name, uint64_t type) { return Message().bytes(1, name).varint(20, type); }

inline Message with(Message node, const std::vector<Message>& attributes) {
  for (const Message& attribute : attributes) node.message(5, attribute);
  return node;
}

inline Message graph_of(const std::vector<Message>& nodes) {
  Message graph;
  for (const Message& node : nodes) graph.message(1, node);
  return graph;
}

// A SparseTensorProto of shape [4] with one value.
inline Message sparse(std::string_view name, float value) {
  return Message()
      .message(1, tensor(name, type::float32, {1}).bytes(9, float_bytes({value})))
      .message(2, tensor("", type::int64, {1}).packed(7, {3}))
      .varint(3, 4);
}

inline std::string int64_bytes(const std::vector<int64_t>& values) {
  std::string bytes;
  for (const int64_t value : values) bytes += fixed_bytes(static_cast<uint64_t>(value), 8);
  return bytes;
}

// A tensor of strings, as its payload.
inline std::string string_bytes(const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) bytes += fixed_bytes(value.size(), 4) + value;
  return bytes;
}

}  // namespace onnxfs::testing
