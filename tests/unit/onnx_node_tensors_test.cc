// Which tensors nodes hold, and what they are.
#include <gtest/gtest.h>

#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using namespace testing::attribute_type;  // NOLINT(google-build-using-namespace)
using testing::attribute;
using testing::findings;
using testing::float_bytes;
using testing::graph_of;
using testing::int64_bytes;
using testing::Message;
using testing::node;
using testing::Placed;
using testing::placed;
using testing::scalar;
using testing::string_bytes;
using testing::with;
namespace type = testing::type;

class NodeTensorsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const std::vector<Message>& nodes) {
    return testing::open_model(folder_, testing::model(graph_of(nodes)));
  }
  // Of a Constant called "c", whose one attribute is "value".
  std::string constant(const Message& value) {
    const auto model = open({with(node("Constant", {}, {"c"}), {value})});
    EXPECT_TRUE(findings(*model).empty());
    const Placed tensors = placed(*model);
    EXPECT_EQ(tensors.size(), 1u);
    return tensors.contains("attributes/c/value") ? tensors.at("attributes/c/value") : "none";
  }

  testing::TemporaryFolder folder_;
};

Message floats(const std::vector<float>& values) {
  Message message;
  for (const float value : values) message.number(7, value);
  return message;
}

TEST_F(NodeTensorsTest, EveryAttributeThatIsATensorIsShown) {
  const Message one = testing::tensor("inner", type::uint8, {3}).bytes(9, "one");
  const Message two = testing::tensor("", type::uint8, {3}).bytes(9, "two");
  const auto model =
      open({with(node("Op", {"x"}, {"y"}, "n"),
                 {
                     attribute("t", testing::attribute_type::tensor).message(5, one),
                     attribute("list", tensors).message(10, one).message(10, two),
                     attribute("sp", testing::attribute_type::sparse).message(22, testing::sparse("s", 5)),
                     attribute("sps", sparses).message(23, testing::sparse("s", 6)),
                 })});
  EXPECT_EQ(placed(*model), (Placed{{"attributes/n/t", "one"},
                                    {"attributes/n/list/0", "one"},
                                    {"attributes/n/list/1", "two"},
                                    {"attributes/n/sp/values", float_bytes({5})},
                                    {"attributes/n/sp/indices", int64_bytes({3})},
                                    {"attributes/n/sps/0/values", float_bytes({6})},
                                    {"attributes/n/sps/0/indices", int64_bytes({3})}}));
  EXPECT_TRUE(findings(*model).empty());
  const Tensor& shown = model->catalog().tensors()[0];
  EXPECT_EQ(shown.name, "inner");
  EXPECT_EQ(shown.kind, Kind::attribute);
  EXPECT_EQ(model->catalog().tensors()[3].kind, Kind::sparse_values);
}

TEST_F(NodeTensorsTest, ConstantsOfEveryKindAreShown) {
  EXPECT_EQ(constant(attribute("value", number).number(2, 1.5f)), float_bytes({1.5f}));
  EXPECT_EQ(constant(attribute("value", integer).varint(3, static_cast<uint64_t>(-7))), int64_bytes({-7}));
  EXPECT_EQ(constant(attribute("value", string).bytes(4, "text")), string_bytes({"text"}));
  EXPECT_EQ(constant(attribute("value", string).bytes(4, "")), string_bytes({""}));
  EXPECT_EQ(constant(attribute("value", numbers).append(floats({1, 2}).str())), float_bytes({1, 2}));
  EXPECT_EQ(constant(attribute("value", integers).varint(8, 1).varint(8, UINT64_MAX)), int64_bytes({1, -1}));
  EXPECT_EQ(constant(attribute("value", strings).bytes(9, "a").bytes(9, "").bytes(9, "b")),
            string_bytes({"a", "", "b"}));
}

TEST_F(NodeTensorsTest, SingleValuesAreScalarsOfWhichTheLastCounts) {
  EXPECT_EQ(constant(attribute("value", number).number(2, 1).number(2, 2)), float_bytes({2}));
  EXPECT_EQ(constant(attribute("value", integer).varint(3, 1).bytes(3, "no int").varint(3, 2)), int64_bytes({2}));
  EXPECT_EQ(constant(attribute("value", integer).varint(3, 2).bytes(3, "no int").fixed64(3, 1)), int64_bytes({2}));
  EXPECT_EQ(constant(attribute("value", number).number(2, 2).varint(2, 1)), float_bytes({2}));
  EXPECT_EQ(constant(attribute("value", string).bytes(4, "first").bytes(4, "last")), string_bytes({"last"}));
  const auto model = open({with(node("Constant", {}, {"c"}), {attribute("value", number).number(2, 1)})});
  EXPECT_TRUE(model->catalog().tensors()[0].dims.empty());
  EXPECT_EQ(model->catalog().tensors()[0].elements, 1u);
}

TEST_F(NodeTensorsTest, OnlyConstantsOfOnnxShowSingleValues) {
  const auto shown = [this](const std::string& op_type, const std::string& domain) {
    const Message value = attribute("value", number).number(2, 1);
    return placed(*open({with(node(op_type, {}, {"c"}), {value}).bytes(7, domain)})).size();
  };
  EXPECT_EQ(shown("Constant", ""), 1u);
  EXPECT_EQ(shown("Constant", "ai.onnx"), 1u);
  EXPECT_EQ(shown("Constant", "com.example"), 0u);
  EXPECT_EQ(shown("constant", ""), 0u);
  EXPECT_EQ(shown("TreeEnsembleClassifier", "ai.onnx.ml"), 0u);
}

TEST_F(NodeTensorsTest, ListsAreShownWhereTheyAreWeights) {
  const auto shown = [this](const std::string& domain, size_t count) {
    Message value = attribute("values", integers);
    for (size_t i = 0; i < count; ++i) value.varint(8, i);
    return !placed(*open({with(node("Op", {}, {"c"}), {value}).bytes(7, domain)})).empty();
  };
  EXPECT_FALSE(shown("", 63));
  EXPECT_TRUE(shown("", 64));
  EXPECT_FALSE(shown("com.example", 2));
  EXPECT_TRUE(shown("ai.onnx.ml", 1));
  EXPECT_FALSE(shown("ai.onnx.ml", 0));
}

TEST_F(NodeTensorsTest, ListsAreTheSamePackedOrNot) {
  const std::string twelve = float_bytes({1, 2, 3});
  for (const Message& list :
       {floats({1, 2, 3}), Message().bytes(7, twelve), Message().bytes(7, twelve.substr(0, 8)).number(7, 3),
        Message().number(7, 1).bytes(7, twelve.substr(4)), Message().bytes(7, "").bytes(7, twelve),
        Message().bytes(7, twelve).bytes(7, ""), Message().bytes(7, twelve.substr(0, 4)).bytes(7, twelve.substr(4))}) {
    EXPECT_EQ(constant(attribute("value", numbers).append(list.str())), twelve);
  }
  for (const Message& list :
       {Message().varint(8, 1).varint(8, 300), Message().packed(8, {1, 300}), Message().packed(8, {1}).varint(8, 300),
        Message().packed(8, {}).packed(8, {1}).packed(8, {300})}) {
    EXPECT_EQ(constant(attribute("value", integers).append(list.str())), int64_bytes({1, 300}));
  }
}

TEST_F(NodeTensorsTest, PackedFloatsStandInOnePiece) {
  const auto model =
      open({with(node("Constant", {}, {"c"}), {attribute("value", numbers).bytes(7, "12345678")}),
            with(node("Constant", {}, {"d"}), {attribute("value", number).number(2, 1)}),
            with(node("Constant", {}, {"e"}), {attribute("value", numbers).append(floats({1, 2}).str())})});
  EXPECT_TRUE(model->catalog().tensors()[0].in_one_piece);
  EXPECT_TRUE(model->catalog().tensors()[1].in_one_piece);
  EXPECT_FALSE(model->catalog().tensors()[2].in_one_piece);
}

TEST_F(NodeTensorsTest, NodesAreCalledByNameElseOutputElsePosition) {
  const Message value = attribute("value", testing::attribute_type::tensor).message(5, scalar(""));
  const auto model =
      open({with(node("Constant", {}, {"out"}, "name"), {value}), with(node("Constant", {}, {"out"}), {value}),
            with(node("Constant", {}, {""}), {value}), with(node("Constant", {}, {}), {value}),
            with(node("Constant", {}, {"out"}), {value}), with(node("Constant", {}, {"a/b"}), {value})});
  EXPECT_EQ(testing::places(*model), (std::map<std::string, uint32_t>{{"attributes/name/value", 0},
                                                                      {"attributes/out/value", 1},
                                                                      {"attributes/node_2/value", 2},
                                                                      {"attributes/node_3/value", 3},
                                                                      {"attributes/out@2/value", 4},
                                                                      {"attributes/a/b/value", 5}}));
}

TEST_F(NodeTensorsTest, AttributesThatReferToTheCallerHoldNothing) {
  const Message value = attribute("value", testing::attribute_type::tensor).message(5, scalar("")).bytes(21, "outer");
  EXPECT_TRUE(placed(*open({with(node("Constant", {}, {"c"}), {value})})).empty());
}

TEST_F(NodeTensorsTest, ATensorInTwoPartsIsOneTensor) {
  const Message first = testing::tensor("", type::int64, {2}).packed(7, {1, 2});
  const Message second = Message().varint(1, 2).packed(7, {3}).varint(7, 4);
  EXPECT_EQ(constant(attribute("value", testing::attribute_type::tensor).message(5, first).message(5, second)),
            int64_bytes({1, 2, 3, 4}));
  const Message raw = testing::tensor("", type::uint8, {3}).bytes(9, "old"), later = Message().bytes(9, "new");
  EXPECT_EQ(constant(attribute("value", testing::attribute_type::tensor).message(5, raw).message(5, later)), "new");
  const Message numbers_first = testing::tensor("", type::float32, {2}).number(4, 1),
                numbers_later = Message().number(4, 2);
  EXPECT_EQ(
      constant(attribute("value", testing::attribute_type::tensor).message(5, numbers_first).message(5, numbers_later)),
      float_bytes({1, 2}));
}

TEST_F(NodeTensorsTest, TypesThatSayOtherwiseAreRemarkedOn) {
  const Message bare = Message().bytes(1, "value").message(5, scalar(""));
  EXPECT_EQ(findings(*open({with(node("Constant", {}, {"c"}), {bare})})),
            std::vector<std::string>{"its attribute has no type, and holds a tensor"});
  EXPECT_EQ(findings(*open({with(node("Constant", {}, {"c"}), {Message(bare).varint(20, 7)})})),
            std::vector<std::string>{"its attribute has type 7, but holds a tensor"});
  EXPECT_EQ(
      findings(*open({with(node("Constant", {}, {"c"}), {Message(floats({1})).bytes(1, "value").varint(20, 1)})})),
      std::vector<std::string>{"its attribute has type 1, but holds floats"});
}

TEST_F(NodeTensorsTest, TypesOfGraphsAreRemarkedOnToo) {
  const Message untyped = Message().bytes(1, "body").message(6, testing::graph({scalar("w")}));
  const auto model = open({with(node("Loop", {}, {"y"}), {untyped})});
  EXPECT_EQ(placed(*model).count("subgraphs/y/body/initializers/w"), 1u);
  EXPECT_EQ(findings(*model).size(), 1u);
}

TEST_F(NodeTensorsTest, RemarksStandWhereTheirAttributeIs) {
  const Message nameless = Message().message(5, scalar(""));
  const auto model = open({node("Relu", {"x"}, {"y"}), with(node("Constant", {}, {"c"}), {nameless})});
  ASSERT_EQ(model->findings().size(), 1u);
  const Finding finding = model->findings()[0];
  ASSERT_TRUE(finding.offset);
  const ByteRange tensor = model->catalog().tensors()[0].message;
  EXPECT_LE(*finding.offset, tensor.begin);
  EXPECT_GE(*finding.offset + 10, tensor.begin);
}

TEST_F(NodeTensorsTest, CorruptAttributesAreErrorsWithTheirOffsets) {
  const auto at = [this](const Message& attribute) {
    return testing::caught([&] { open({with(node("Op", {}, {"y"}), {attribute})}); });
  };
  EXPECT_EQ(at(Message().bytes(7, "12345")).code, EBADMSG);
  EXPECT_EQ(at(Message().bytes(8, "\x80")).code, EBADMSG);
  EXPECT_EQ(at(Message().raw("\x07")).code, EBADMSG);
  EXPECT_EQ(at(Message().message(5, Message().raw("\x07"))).code, EBADMSG);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "corrupt at offset", at(Message().raw("\x07")).text);
}

}  // namespace
}  // namespace onnxfs
