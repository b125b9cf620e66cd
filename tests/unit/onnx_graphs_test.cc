// The tensors of nested graphs, functions and training graphs, and their scopes.
#include <gtest/gtest.h>

#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::attribute;
using testing::findings;
using testing::graph;
using testing::graph_of;
using testing::Message;
using testing::node;
using testing::places;
using testing::scalar;
using testing::with;
namespace attribute_type = testing::attribute_type;

Message constant(std::string_view output) {
  return with(node("Constant", {}, {std::string(output)}),
              {attribute("value", attribute_type::tensor).message(5, scalar(""))});
}

Message holding(std::string_view name, std::string_view attribute_name, const Message& inner) {
  return with(node("If", {}, {std::string(name)}),
              {attribute(attribute_name, attribute_type::graph).message(6, inner)});
}

class GraphsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const Message& model) { return testing::open_model(folder_, model); }
  // Each path, and the scope of what is there.
  std::map<std::string, std::string> scopes(const Message& message) {
    const auto model = open(message);
    EXPECT_TRUE(findings(*model).empty());
    std::map<std::string, std::string> result;
    for (const auto& [path, index] : places(*model)) {
      result[path] = scope_of(model->catalog().sections(), model->catalog().tensors()[index].section);
    }
    return result;
  }

  testing::TemporaryFolder folder_;
};

using Scopes = std::map<std::string, std::string>;

TEST_F(GraphsTest, NestedGraphsStandBelowTheirNodes) {
  const Message innermost = graph({scalar("w")}).message(1, constant("k"));
  const Message list = with(node("Case", {}, {"case"}), {attribute("branches", attribute_type::graphs)
                                                             .message(11, graph({scalar("x")}))
                                                             .message(11, graph({scalar("y")}))});
  const Message inner =
      graph({scalar("v")}).message(1, holding("loop", "body", innermost)).message(15, testing::sparse("s", 1));
  const Message outer =
      graph({scalar("u")}).message(1, holding("if", "then_branch", inner)).message(1, list).message(5, scalar("late"));
  EXPECT_EQ(
      scopes(testing::model(outer)),
      (Scopes{{"initializers/u", "graph"},
              {"initializers/late", "graph"},
              {"subgraphs/if/then_branch/initializers/v", "graph/if.then_branch"},
              {"subgraphs/if/then_branch/sparse_initializers/s/values", "graph/if.then_branch"},
              {"subgraphs/if/then_branch/sparse_initializers/s/indices", "graph/if.then_branch"},
              {"subgraphs/if/then_branch/subgraphs/loop/body/initializers/w", "graph/if.then_branch/loop.body"},
              {"subgraphs/if/then_branch/subgraphs/loop/body/attributes/k/value", "graph/if.then_branch/loop.body"},
              {"subgraphs/case/branches/0/initializers/x", "graph/case.branches/0"},
              {"subgraphs/case/branches/1/initializers/y", "graph/case.branches/1"}}));
}

// What is nested in a node stands before what follows the node.
TEST_F(GraphsTest, TensorsAreInFileOrder) {
  const Message branches =
      with(node("If", {}, {"if"}), {attribute("then", attribute_type::graph).message(6, graph({scalar("b")})),
                                    attribute("else", attribute_type::graph).message(6, graph({scalar("c")}))});
  const Message list = with(
      node("Case", {}, {"case"}),
      {attribute("g", attribute_type::graphs).message(11, graph({scalar("d")})).message(11, graph({scalar("e")}))});
  const Message main = graph({scalar("a")}).message(1, branches).message(1, list).message(5, scalar("f"));
  std::string order;
  const auto model = open(testing::model(main));
  for (const Tensor& tensor : model->catalog().tensors()) order += tensor.name;
  EXPECT_EQ(order, "abcdef");
}

TEST_F(GraphsTest, TheMainGraphMayStandInParts) {
  const Message first = graph({scalar("a")}).message(1, holding("if", "g", graph({scalar("b")})));
  EXPECT_EQ(scopes(Message()
                       .message(7, first)
                       .varint(1, 8)
                       .message(7, graph({scalar("c")}))
                       .message(7, graph_of({constant("k")}))),
            (Scopes{{"initializers/a", "graph"},
                    {"subgraphs/if/g/initializers/b", "graph/if.g"},
                    {"initializers/c", "graph"},
                    {"attributes/k/value", "graph"}}));
}

TEST_F(GraphsTest, OnlyTheMainGraphIsCounted) {
  const Message inner = graph({scalar("v"), scalar("w")}).message(1, constant("k")).message(13, Message());
  const Counts counts =
      open(testing::model(graph({scalar("u")}).message(1, holding("if", "g", inner))))->catalog().counts();
  EXPECT_EQ(counts.initializers, 1u);
  EXPECT_EQ(counts.nodes, 1u);
  EXPECT_EQ(counts.value_infos, 0u);
}

TEST_F(GraphsTest, NestedGraphsMayStandInTwoParts) {
  const Message value =
      attribute("g", attribute_type::graph)
          .message(6, graph({scalar("a")}).message(1, node("First", {}, {})))
          .message(6, graph({scalar("b")})
                          .message(1, with(node("Second", {}, {}),
                                           {attribute("t", attribute_type::tensor).message(5, scalar(""))})));
  EXPECT_EQ(scopes(testing::model(graph_of({with(node("If", {}, {"if"}), {value})}))),
            (Scopes{{"subgraphs/if/g/initializers/a", "graph/if.g"},
                    {"subgraphs/if/g/initializers/b", "graph/if.g"},
                    {"subgraphs/if/g/attributes/node_1/t", "graph/if.g"}}));
}

TEST_F(GraphsTest, FunctionsHaveNamesOfThreeParts) {
  const auto function = [](std::string_view domain, std::string_view name, std::string_view overload) {
    return Message().message(7, constant("k")).bytes(1, name).bytes(10, domain).bytes(13, overload);
  };
  EXPECT_EQ(scopes(Message()
                       .message(25, function("my.domain", "f", ""))
                       .message(25, function("", "g", ""))
                       .message(25, function("my.domain", "f", "v2"))
                       .message(25, function("", "my.domain.f", ""))),
            (Scopes{{"functions/my.domain.f/attributes/k/value", "function:my.domain/f"},
                    {"functions/g/attributes/k/value", "function:/g"},
                    {"functions/my.domain.f:v2/attributes/k/value", "function:my.domain/f:v2"},
                    {"functions/my.domain.f@2/attributes/k/value", "function:/my.domain.f"}}));
}

TEST_F(GraphsTest, FunctionsHoldDefaultsAndGraphs) {
  const Message function = Message()
                               .bytes(1, "f")
                               .message(7, holding("if", "g", graph({scalar("w")})))
                               .message(11, attribute("alpha", attribute_type::tensor).message(5, scalar("")))
                               .message(11, attribute("body", attribute_type::graph).message(6, graph({scalar("b")})));
  EXPECT_EQ(scopes(Message().message(25, function)),
            (Scopes{{"functions/f/subgraphs/if/g/initializers/w", "function:/f/if.g"},
                    {"functions/f/defaults/alpha", "function:/f"},
                    {"functions/f/defaults/body/initializers/b", "function:/f/defaults.body"}}));
}

TEST_F(GraphsTest, TrainingGraphsAreNumbered) {
  const Message first = Message().message(1, graph({scalar("lr")})).message(2, graph({scalar("m")}));
  const Message second = Message().message(2, graph({scalar("m")})).message(2, graph({scalar("n")}));
  EXPECT_EQ(scopes(Message().message(20, first).message(20, second)),
            (Scopes{{"training/0/initialization/initializers/lr", "training:0.initialization"},
                    {"training/0/algorithm/initializers/m", "training:0.algorithm"},
                    {"training/1/algorithm/initializers/m", "training:1.algorithm"},
                    {"training/1/algorithm/initializers/n", "training:1.algorithm"}}));
}

TEST_F(GraphsTest, RepeatedNamesAreOfOneGraph) {
  const Message inner = graph({scalar("w"), scalar("w")});
  const auto model = open(testing::model(graph({scalar("w")}).message(1, holding("if", "g", inner))));
  ASSERT_EQ(model->findings().size(), 1u);
  EXPECT_EQ(model->findings()[0].tensor, 2u);
  EXPECT_TRUE(places(*model).contains("subgraphs/if/g/initializers/w@2"));
}

Message nested(size_t depth, const Message& innermost) {
  Message graph = innermost;
  for (size_t i = 0; i < depth; ++i) graph = graph_of({holding("n", "g", graph)});
  return graph;
}

TEST_F(GraphsTest, GraphsAreWalkedAsDeepAsAnyParserGoes) {
  EXPECT_EQ(open(testing::model(nested(33, graph({scalar("w")}))))->catalog().tensors().size(), 1u);
}

TEST_F(GraphsTest, DeeperGraphsAreSaidToBeLeftOut) {
  const auto model = open(testing::model(nested(3000, graph({scalar("w")}))));
  EXPECT_TRUE(model->catalog().tensors().empty());
  ASSERT_EQ(findings(*model).size(), 1u);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "nested deeper than any reader goes", findings(*model)[0]);
}

TEST_F(GraphsTest, NodeAndAttributeOfATensorAreKnown) {
  const Message op =
      with(node("Op", {}, {}, "a/b"), {attribute("t", attribute_type::tensor).message(5, scalar("")),
                                       attribute("list", attribute_type::tensors).message(10, scalar("")),
                                       attribute("sp", attribute_type::sparse).message(22, testing::sparse("", 1))});
  const auto model = open(testing::model(graph({scalar("w")}).message(1, op)));
  const Catalog& catalog = model->catalog();
  for (const auto& [path, attribute] : std::map<std::string, std::string>{
           {"attributes/a/b/t", "t"}, {"attributes/a/b/list/0", "list"}, {"attributes/a/b/sp/values", "sp"}}) {
    const Tensor& tensor = catalog.tensors()[places(*model).at(path)];
    const auto holder = node_attribute_of(catalog.sections(), tensor.section, tensor.leaf);
    ASSERT_TRUE(holder) << path;
    EXPECT_EQ(holder->node, "a/b");
    EXPECT_EQ(holder->attribute, attribute);
  }
  const Tensor& initializer = catalog.tensors()[places(*model).at("initializers/w")];
  EXPECT_FALSE(node_attribute_of(catalog.sections(), initializer.section, initializer.leaf));
}

}  // namespace
}  // namespace onnxfs
