#include "core/views/graph_txt.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::Message;
using testing::model;
using testing::node;
using testing::scalar;

Message nodes(const std::vector<Message>& list) {
  Message graph;
  for (const Message& node : list) graph.message(1, node);
  return graph;
}

Message holding(Message node, std::string_view attribute, const Message& graph) {
  return node.message(5, Message().bytes(1, attribute).message(6, graph));
}

class GraphTxtTest : public ::testing::Test {
 protected:
  std::string text(const Message& message) { return graph_txt(*testing::open_model(folder_, message, "m.onnx")); }

  testing::TemporaryFolder folder_;
};

TEST_F(GraphTxtTest, IsALineANode) {
  EXPECT_EQ(text(model(nodes({node("Conv", {"x", "w"}, {"h"}, "c1"), node("Relu", {"h"}, {"y"})}))),
            "h = Conv(x, w) # c1\n"
            "y = Relu(h)\n");
  EXPECT_EQ(text(model(Message())), "");
}

TEST_F(GraphTxtTest, NestedNodesFollowTheNodeThatHoldsThem) {
  const Message inner = holding(node("Loop", {"n"}, {"l"}), "body", nodes({node("Add", {"i", "j"}, {"k"})}));
  const Message then_branch = nodes({node("Relu", {"a"}, {"b"}), inner, node("Neg", {"b"}, {"z"})});
  Message outer = holding(node("If", {"c"}, {"y"}, "choose"), "then_branch", then_branch);
  outer = holding(outer, "else_branch", nodes({node("Abs", {"a"}, {"z"})}));
  EXPECT_EQ(text(model(nodes({node("Not", {"a"}, {"c"}), outer, node("Exp", {"y"}, {"e"})}))),
            "c = Not(a)\n"
            "y = If(c) {else_branch=graph, then_branch=graph} # choose\n"
            "choose.then_branch: b = Relu(a)\n"
            "choose.then_branch: l = Loop(n) {body=graph}\n"
            "choose.then_branch/l.body: k = Add(i, j)\n"
            "choose.then_branch: z = Neg(b)\n"
            "choose.else_branch: z = Abs(a)\n"
            "e = Exp(y)\n");
}

TEST_F(GraphTxtTest, NodesWithoutNameOrOutputAreNumbered) {
  const Message nested = holding(node("If", {"c"}, {}), "then_branch", nodes({node("A", {}, {"x"})}));
  EXPECT_EQ(text(model(nodes({nested, node("B", {}, {}), nested}))),
            "If(c) {then_branch=graph}\n"
            "node_0.then_branch: x = A()\n"
            "B()\n"
            "If(c) {then_branch=graph}\n"
            "node_2.then_branch: x = A()\n");
}

TEST_F(GraphTxtTest, ListsOfGraphsAreNumbered) {
  const Message list = Message()
                           .bytes(1, "branches")
                           .message(11, nodes({node("A", {}, {"a"})}))
                           .message(11, nodes({node("B", {}, {"b"})}));
  EXPECT_EQ(text(model(nodes({node("Case", {"c"}, {"y"}).message(5, list)}))),
            "y = Case(c) {branches=2 graphs}\n"
            "y.branches/0: a = A()\n"
            "y.branches/1: b = B()\n");
}

TEST_F(GraphTxtTest, GraphsInPartsAreOne) {
  const Message nested =
      node("If", {"c"}, {})
          .message(5, Message()
                          .bytes(1, "g")
                          .message(6, nodes({node("A", {}, {"a"})}))
                          .message(6, nodes({holding(node("B", {}, {}), "h", nodes({node("C", {}, {})}))})));
  EXPECT_EQ(text(Message().message(7, nodes({node("First", {}, {"f"})})).varint(1, 8).message(7, nodes({nested}))),
            "f = First()\n"
            "If(c) {g=graph}\n"
            "node_1.g: a = A()\n"
            "node_1.g: B() {h=graph}\n"
            "node_1.g/node_1.h: C()\n");
}

TEST_F(GraphTxtTest, FunctionsAndTrainingFollow) {
  const Message function =
      Message()
          .bytes(1, "gelu")
          .message(7, node("Erf", {"x"}, {"e"}))
          .message(7, holding(node("If", {"e"}, {"y"}), "then_branch", nodes({node("Neg", {}, {"n"})})))
          .bytes(10, "local.ops");
  const Message bare = Message().bytes(1, "f").message(7, node("A", {}, {"a"})).bytes(13, "v2");
  const Message training =
      Message().message(1, nodes({node("Init", {}, {"i"})})).message(2, nodes({node("Step", {}, {"s"})}));
  EXPECT_EQ(text(Message()
                     .message(25, function)
                     .message(20, training)
                     .message(25, bare)
                     .message(20, training)
                     .message(7, nodes({node("Main", {}, {"m"})}))),
            "m = Main()\n"
            "function:local.ops/gelu: e = Erf(x)\n"
            "function:local.ops/gelu: y = If(e) {then_branch=graph}\n"
            "function:local.ops/gelu/y.then_branch: n = Neg()\n"
            "training:0.initialization: i = Init()\n"
            "training:0.algorithm: s = Step()\n"
            "function:\"\"/f:v2: a = A()\n"
            "training:1.initialization: i = Init()\n"
            "training:1.algorithm: s = Step()\n");
}

TEST_F(GraphTxtTest, DoesNotDependOnWhereThingsStand) {
  const Message compact = node("Op", {"x"}, {"y"}, "n")
                              .message(5, Message().bytes(1, "b").varint(3, 1))
                              .message(5, Message().bytes(1, "a").varint(3, 2));
  const Message spread = Message()
                             .bytes(1000, std::string(5000, 'u'))
                             .bytes(3, "n")
                             .message(5, Message().varint(3, 2).bytes(1, "a"))
                             .bytes(4, "Op")
                             .message(5, Message().varint(20, 2).bytes(1, "b").varint(3, 1))
                             .bytes(2, "y")
                             .bytes(6, "documentation")
                             .bytes(1, "x");
  const Message apart = Message().message(5, scalar("w")).message(1, spread).message(5, scalar("v"));
  EXPECT_EQ(text(model(nodes({compact}))), text(Message().varint(5, 1).message(7, apart).varint(1, 3)));
}

TEST_F(GraphTxtTest, NamesCannotForgeALine) {
  const Message evil = holding(node("If\nx = Fake()", {"a\nb"}, {"y"}, "n\nm"), "g\nh", nodes({node("A\r", {}, {})}));
  const std::string got = text(model(nodes({evil})));
  EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 2);
  EXPECT_EQ(got.find('\r'), std::string::npos);
}

Message nested_graphs(int depth) {
  Message graph = nodes({node("Innermost", {}, {})});
  for (int i = 0; i < depth; ++i) graph = nodes({holding(node("If", {}, {}), "g", graph)});
  return graph;
}

TEST_F(GraphTxtTest, GraphsAreListedAsDeepAsAnyParserGoes) {
  EXPECT_NE(text(model(nested_graphs(33))).find("Innermost()"), std::string::npos);
}

TEST_F(GraphTxtTest, DeeperGraphsAreSaidToBeLeftOut) {
  const std::string got = text(model(nested_graphs(3000)));
  EXPECT_EQ(got.find("Innermost"), std::string::npos);
  EXPECT_TRUE(got.ends_with("graphs nested deeper than this are not listed\n"));
  EXPECT_LT(got.size(), 200'000u);
}

// Else a small file costs all memory: each line repeats the names around it.
TEST_F(GraphTxtTest, LongNamesAreNotRepeatedOnEveryLine) {
  Message inner;
  for (int i = 0; i < 2000; ++i) inner.message(1, node("A", {}, {}));
  const std::string name(20'000, 'n');
  const Message by_node = model(nodes({holding(node("If", {}, {}, name), "g", inner)}));
  EXPECT_LT(text(by_node).size(), 20 * by_node.size());
  const Message by_attribute = model(nodes({holding(node("If", {}, {}), name, inner)}));
  EXPECT_LT(text(by_attribute).size(), 20 * by_attribute.size());
  Message function = Message().bytes(1, name);
  for (int i = 0; i < 2000; ++i) function.message(7, node("A", {}, {}));
  const Message by_function = model(Message()).message(25, function);
  EXPECT_LT(text(by_function).size(), 20 * by_function.size());
}

TEST_F(GraphTxtTest, CorruptNodesAreNoModel) {
  const Message graph = nodes({node("A", {}, {"a"})}).bytes(1, "\x0a\xff");
  EXPECT_ERROR(text(Message().message(7, graph)), EBADMSG, "truncated at offset 14");
  const Message nested = nodes({holding(node("If", {}, {"y"}), "g", Message().bytes(1, "\x07"))});
  EXPECT_ERROR(text(Message().message(7, nested)), EBADMSG, "corrupt at offset");
}

// The tensor of an attribute that refers to its function's caller is none, and is not looked at before it is printed.
TEST_F(GraphTxtTest, WhatWasNotScannedMayBeAnErrorOfReading) {
  const Message reference = Message().bytes(1, "a").bytes(21, "outer").bytes(5, "\x0a\xff");
  EXPECT_ERROR(text(Message().message(7, nodes({node("A", {}, {"a"}).message(5, reference)}))), EIO,
               "the nodes of m.onnx: truncated at offset");
}

TEST_F(GraphTxtTest, ModelThatChangedIsStale) {
  const auto opened = testing::open_model(folder_, model(nodes({node("A", {}, {"a"})})), "m.onnx");
  std::filesystem::resize_file(folder_ / "m.onnx", 3);
  EXPECT_ERROR(graph_txt(*opened), ESTALE, "m.onnx changed on disk");
}

}  // namespace
}  // namespace onnxfs
