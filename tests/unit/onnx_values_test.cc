// Files that hold values and not a model.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::findings;
using testing::float_bytes;
using testing::int64_bytes;
using testing::Message;
using testing::Placed;
using testing::placed;
using testing::scalar;
using testing::string_bytes;
using testing::tensor;
namespace type = testing::type;

Message values_of(uint64_t elem_type, const std::vector<Message>& elements) {
  Message message = Message().varint(2, elem_type);
  for (const Message& element : elements) message.message(static_cast<uint32_t>(elem_type) + 2, element);
  return message;
}

Message text(const std::string& bytes) {
  return tensor("", type::uint8, {static_cast<int64_t>(bytes.size())}).bytes(9, bytes);
}

class ValuesTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const Message& message, std::string_view name = "value.pb") {
    return testing::open_model(folder_, message, name);
  }
  Placed values(const Message& message) {
    const auto model = open(message);
    EXPECT_TRUE(findings(*model).empty());
    return placed(*model);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ValuesTest, TensorStandsByItsName) {
  EXPECT_EQ(values(tensor("enc/w", type::uint8, {3}).bytes(9, "abc")), (Placed{{"values/enc/w", "abc"}}));
  EXPECT_EQ(values(text("abc")), (Placed{{"values/unnamed", "abc"}}));
  EXPECT_EQ(open(text("abc"))->root(), Root::tensor);
  EXPECT_EQ(open(text("abc"))->catalog().tensors()[0].kind, Kind::value);
}

TEST_F(ValuesTest, SparseTensorIsAFolder) {
  EXPECT_EQ(values(testing::sparse("s", 5)),
            (Placed{{"values/s/values", float_bytes({5})}, {"values/s/indices", int64_bytes({3})}}));
}

TEST_F(ValuesTest, ElementsOfASequenceAreNumbered) {
  EXPECT_EQ(values(values_of(1, {text("a"), text("b"), text("c")})),
            (Placed{{"values/0", "a"}, {"values/1", "b"}, {"values/2", "c"}}));
  const Message nested =
      values_of(3, {values_of(1, {text("a"), text("b")}), values_of(1, {}), values_of(1, {text("c")})});
  EXPECT_EQ(values(nested), (Placed{{"values/0/0", "a"}, {"values/0/1", "b"}, {"values/2/0", "c"}}));
}

TEST_F(ValuesTest, EmptyCollectionsAreFoldersAllTheSame) {
  for (const Message& empty : {values_of(1, {}), values_of(3, {values_of(1, {}), values_of(1, {})})}) {
    const auto model = open(empty);
    EXPECT_TRUE(model->catalog().tensors().empty());
    EXPECT_TRUE(Tree(model->catalog()).find_entry(Tree::root, "values"));
  }
  const auto model = open(values_of(3, {values_of(1, {}), values_of(1, {})}));
  const Tree tree(model->catalog());
  const uint32_t values = tree.find_entry(Tree::root, "values").value();
  EXPECT_TRUE(tree.find_entry(values, "0"));
  EXPECT_TRUE(tree.find_entry(values, "1"));
}

TEST_F(ValuesTest, MapsHaveTheirKeysBesideTheirValues) {
  const Message two = values_of(1, {text("a"), text("b")});
  EXPECT_EQ(values(Message().varint(2, 7).packed(3, {5, UINT64_MAX}).message(5, two)),
            (Placed{{"values/keys", int64_bytes({5, -1})}, {"values/0", "a"}, {"values/1", "b"}}));
  EXPECT_EQ(values(Message().varint(2, 7).varint(3, 5).packed(3, {6}).message(5, two)).at("values/keys"),
            int64_bytes({5, 6}));
  EXPECT_EQ(values(Message().varint(2, 8).bytes(4, "one").bytes(4, "").message(5, two)).at("values/keys"),
            string_bytes({"one", ""}));
  EXPECT_EQ(values(Message().varint(2, 3).packed(3, {1, UINT64_MAX}).message(5, two)).at("values/keys"), "\x01\xff");
  EXPECT_EQ(open(Message().varint(2, 7).packed(3, {5, 6}).message(5, two))->catalog().tensors()[0].storage,
            Storage::keys);
}

TEST_F(ValuesTest, MapsMayBeNested) {
  const Message map = Message().varint(2, 7).packed(3, {5}).message(5, values_of(1, {text("a")}));
  EXPECT_EQ(values(values_of(4, {map, map})), (Placed{{"values/0/keys", int64_bytes({5})},
                                                      {"values/0/0", "a"},
                                                      {"values/1/keys", int64_bytes({5})},
                                                      {"values/1/0", "a"}}));
  const Message odd_keys = Message().varint(2, 1).packed(3, {5}).message(5, values_of(1, {text("a")}));
  const Placed tensors = placed(*open(values_of(4, {map, odd_keys})));
  EXPECT_TRUE(tensors.at("values/1/keys").starts_with("!"));
  EXPECT_EQ(tensors.at("values/1/0"), "a");
}

TEST_F(ValuesTest, OptionalInAnotherValueIsOneElement) {
  const Message parts = Message()
                            .varint(2, 1)
                            .message(3, tensor("", type::int64, {1}).packed(7, {1}))
                            .message(3, Message().packed(7, {2}).varint(1, 2));
  EXPECT_EQ(values(values_of(5, {parts, values_of(1, {}), values_of(1, {text("b")})})),
            (Placed{{"values/0/0", int64_bytes({1, 2})}, {"values/2/0", "b"}}));
}

TEST_F(ValuesTest, BrokenElementsAreListed) {
  const Placed tensors =
      placed(*open(values_of(1, {text("a"), tensor("", type::float32, {3}).bytes(9, "1"), text("c")})));
  EXPECT_EQ(tensors.at("values/0"), "a");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "raw_data has 1 bytes", tensors.at("values/1"));
  EXPECT_EQ(tensors.at("values/2"), "c");
}

TEST_F(ValuesTest, DeepNestingIsSaidToBeLeftOut) {
  Message deep = values_of(1, {text("a")});
  for (int i = 0; i < 3000; ++i) deep = values_of(3, {deep});
  const auto model = open(deep);
  EXPECT_TRUE(model->catalog().tensors().empty());
  ASSERT_EQ(findings(*model).size(), 1u);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "nested deeper than any reader goes", findings(*model)[0]);
}

TEST_F(ValuesTest, MapsWithAnotherNumberOfValuesThanKeysAreSaid) {
  const auto map_of = [](const std::vector<uint64_t>& keys, size_t values) {
    return Message().varint(2, 7).packed(3, keys).message(5, values_of(1, std::vector<Message>(values, text("a"))));
  };
  EXPECT_TRUE(findings(*open(values_of(4, {map_of({1, 2}, 2), map_of({}, 0)}))).empty());
  const auto model = open(values_of(4, {map_of({1, 2}, 2), map_of({1, 2, 3}, 2), map_of({}, 1)}));
  ASSERT_EQ(findings(*model).size(), 2u);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "a map has 3 keys and 2 values", findings(*model)[0]);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "a map has 0 keys and 1 values", findings(*model)[1]);
  EXPECT_EQ(placed(*model).size(), 8u) << "all that there is is shown";
}

TEST_F(ValuesTest, KeysThatTheirTypeDoesNotHaveAreFoundWhenTheyAreRead) {
  const auto model =
      open(values_of(4, {Message().varint(2, 3).packed(3, {1, 128}).message(5, values_of(1, {text("a"), text("b")}))}));
  EXPECT_TRUE(findings(*model).empty());
  placed(*model);
  ASSERT_EQ(findings(*model).size(), 1u);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "keys has an entry of 128, those of int8 are -128 to 127",
                      findings(*model)[0]);
}

TEST_F(ValuesTest, DeepMapsAreLeftOutToo) {
  Message deep = Message().varint(2, 7).packed(3, {5}).message(5, values_of(1, {text("a")}));
  for (int i = 0; i < 3000; ++i) deep = Message().varint(2, 7).packed(3, {5}).message(5, values_of(4, {deep}));
  const auto model = open(deep);
  EXPECT_LT(model->catalog().tensors().size(), 200u);
  EXPECT_EQ(findings(*model).size(), 1u);
}

TEST_F(ValuesTest, TensorsAreInFileOrder) {
  const Message nested =
      values_of(3, {values_of(1, {text("a"), text("b")}), values_of(1, {text("c")}), values_of(1, {text("d")})});
  const auto model = open(nested);
  std::string order;
  for (uint32_t i = 0; i < 4; ++i) order += model->payload(i).text();
  EXPECT_EQ(order, "abcd");
}

TEST_F(ValuesTest, OnlyPbFilesHoldValues) {
  EXPECT_ERROR(open(text("abc"), "value.onnx"), EINVAL, "a single tensor");
  EXPECT_ERROR(open(values_of(1, {text("a")}), "value.onnx"), EINVAL, "no graph");
  EXPECT_EQ(open(testing::model(testing::graph({scalar("w")})), "model.pb")->root(), Root::model);
  EXPECT_ERROR(open(Message().varint(100, 1), "odd.pb"), EINVAL, folder_ / "odd.pb" + " is no file of ONNX");
}

// The model beside a set of test data says which of the two a value is.
TEST_F(ValuesTest, ModelBesideTellsSequenceFromOptional) {
  const auto typed = [](uint32_t field) {
    const Message element = Message().message(1, Message().varint(1, 1));
    return Message().bytes(1, "x").message(2, Message().message(field, Message().message(1, element)));
  };
  const Message graph =
      Message().message(11, typed(4)).message(11, typed(9)).message(12, typed(9)).message(11, Message());
  folder_.write("case/model.onnx", testing::model(graph).str());
  const Message one = values_of(1, {text("a")});
  const auto root = [this, &one](const std::string& name) { return open(one, name)->root(); };
  EXPECT_EQ(root("case/test_data_set_0/input_0.pb"), Root::sequence);
  EXPECT_EQ(root("case/test_data_set_0/input_1.pb"), Root::optional);
  EXPECT_EQ(root("case/test_data_set_0/output_0.pb"), Root::optional);
  for (const std::string name :
       {"case/test_data_set_0/input_2.pb", "case/test_data_set_0/input_9.pb", "case/test_data_set_0/output_1.pb",
        "case/test_data_set_0/input_.pb", "case/test_data_set_0/input_0x.pb", "case/test_data_set_0/other.pb",
        "case/test_data_set_0/input_99999999999999999999.pb", "case/input_0.pb", "none/set/input_0.pb"}) {
    EXPECT_EQ(root(name), Root::sequence_or_optional) << name;
  }
  EXPECT_EQ(open(values_of(1, {text("a"), text("b")}), "case/test_data_set_0/input_1.pb")->root(), Root::sequence);
}

// Strings so long that no length of four bytes says it: the file is a hole.
TEST_F(ValuesTest, ProblemIsToldForKeysThatCannotBeRead) {
  constexpr uint64_t size = uint64_t{1} << 32;
  const std::string head =
      Message().varint(2, 8).message(5, values_of(1, {text("a")})).str() + testing::header_bytes(4, size);
  const std::string path = folder_.write("map.pb", head);
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(head.size() + size)), 0);
  const auto model = Model::open(path);
  EXPECT_ERROR(model->payload(0), EIO, "");
  EXPECT_NE(model->problem(0), "");
}

TEST_F(ValuesTest, ProblemIsToldForAConstantThatCannotBeRead) {
  constexpr uint64_t size = uint64_t{1} << 32;
  const auto around = [](uint32_t field, const std::string& inner) {
    return testing::header_bytes(field, inner.size() + size) + inner;
  };
  const std::string value = Message().bytes(1, "value_string").varint(20, 3).str() + testing::header_bytes(4, size);
  const std::string head = around(7, around(1, testing::node("Constant", {}, {"c"}).str() + around(5, value)));
  const std::string path = folder_.write("constant.onnx", head);
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(head.size() + size)), 0);
  const auto model = Model::open(path);
  EXPECT_ERROR(model->payload(0), EIO, "");
  EXPECT_NE(model->problem(0), "");
}

}  // namespace
}  // namespace onnxfs
