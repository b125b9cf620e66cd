#include "core/views/model_json.h"

#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::entry;
using testing::Message;
using testing::node;
using testing::scalar;

using Json = nlohmann::ordered_json;

// TypeProto {1 tensor_type {1 elem_type, 2 shape {1 dim …}}}
Message tensor_type(uint64_t elem_type, const std::vector<Message>& dims) {
  Message shape;
  for (const Message& dim : dims) shape.message(1, dim);
  return Message().message(1, Message().varint(1, elem_type).message(2, shape));
}

Message value(std::string_view name, const Message& type) { return Message().bytes(1, name).message(2, type); }

const Message two = Message().varint(1, 2), batch = Message().bytes(2, "batch"), unsaid;

class ModelJsonTest : public ::testing::Test {
 protected:
  std::string text(const Message& message, std::string_view name = "m.onnx") {
    return model_json(*testing::open_model(folder_, message, name));
  }
  Json json(const Message& message) { return Json::parse(text(message)); }
  Json inputs(const std::vector<Message>& values) {
    Message graph;
    for (const Message& value : values) graph.message(11, value);
    return json(testing::model(graph))["inputs"];
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ModelJsonTest, TellsWhatDescribesAModel) {
  const Message graph = Message()
                            .message(1, node("Relu", {"x"}, {"y"}))
                            .bytes(2, "main")
                            .message(5, scalar("w"))
                            .bytes(10, "of the graph")
                            .message(11, value("x", tensor_type(1, {two, batch, unsaid})))
                            .message(12, value("y", tensor_type(16, {})))
                            .message(13, value("v", tensor_type(1, {})))
                            .message(16, entry("gk", "gv"));
  const Message message = Message()
                              .varint(1, 10)
                              .bytes(2, "pytorch")
                              .bytes(3, "2.1")
                              .bytes(4, "org.example")
                              .varint(5, static_cast<uint64_t>(-3))
                              .bytes(6, "of the \"model\"\n")
                              .message(7, graph)
                              .message(8, Message().bytes(1, "").varint(2, 17))
                              .message(8, Message().bytes(1, "ai.onnx.ml").varint(2, 3))
                              .message(14, entry("k", "v"))
                              .message(25, Message().bytes(1, "f"));
  const std::string got = text(message);
  const std::string expected =
      "{\n"
      "  \"file\": \"m.onnx\",\n"
      "  \"size\": " +
      std::to_string(message.size()) +
      ",\n"
      "  \"protobuf_2gb\": false,\n"
      "  \"ir_version\": 10,\n"
      "  \"producer_name\": \"pytorch\",\n"
      "  \"producer_version\": \"2.1\",\n"
      "  \"domain\": \"org.example\",\n"
      "  \"model_version\": -3,\n"
      "  \"doc_string\": \"of the \\\"model\\\"\\n\",\n"
      "  \"opset_import\": [{\"domain\":\"\",\"version\":17},{\"domain\":\"ai.onnx.ml\",\"version\":3}],\n"
      "  \"metadata_props\": {\"k\":\"v\"},\n"
      "  \"graph_name\": \"main\",\n"
      "  \"graph_doc_string\": \"of the graph\",\n"
      "  \"graph_metadata_props\": {\"gk\":\"gv\"},\n"
      "  \"inputs\": [{\"name\":\"x\",\"type\":\"tensor\",\"dtype\":\"float32\",\"shape\":[2,\"batch\",null]}],\n"
      "  \"outputs\": [{\"name\":\"y\",\"type\":\"tensor\",\"dtype\":\"bfloat16\",\"shape\":[]}],\n"
      "  \"counts\": {\"nodes\":1,\"initializers\":1,\"sparse_initializers\":0,\"inputs\":1,\"outputs\":1,"
      "\"value_infos\":1,\"functions\":1,\"training_infos\":0}\n"
      "}\n";
  EXPECT_EQ(got, expected);
}

TEST_F(ModelJsonTest, TypesOfInputsAreTold) {
  const Message element = tensor_type(7, {two});
  const Json got = inputs({
      value("rankless", Message().message(1, Message().varint(1, 1))),
      value("unknown", tensor_type(99, {})),
      value("sparse", Message().message(8, Message().varint(1, 11).message(2, Message().message(1, two)))),
      value("sequence", Message().message(4, Message().message(1, element))),
      value("optional", Message().message(9, Message().message(1, element))),
      value("map", Message().message(5, Message().varint(1, 8).message(2, element))),
      Message().bytes(1, "untyped"),
  });
  ASSERT_EQ(got.size(), 7u);
  EXPECT_EQ(got[0].dump(), R"({"name":"rankless","type":"tensor","dtype":"float32","shape":null})");
  EXPECT_EQ(got[1].dump(), R"({"name":"unknown","type":"tensor","dtype":null,"shape":[]})");
  EXPECT_EQ(got[2].dump(), R"({"name":"sparse","type":"sparse_tensor","dtype":"float64","shape":[2]})");
  const std::string inner = R"({"type":"tensor","dtype":"int64","shape":[2]})";
  EXPECT_EQ(got[3].dump(), R"({"name":"sequence","type":"sequence","elem":)" + inner + "}");
  EXPECT_EQ(got[4].dump(), R"({"name":"optional","type":"optional","elem":)" + inner + "}");
  EXPECT_EQ(got[5].dump(), R"({"name":"map","type":"map","key":"string","value":)" + inner + "}");
  EXPECT_EQ(got[6].dump(), R"({"name":"untyped","type":null})");
}

TEST_F(ModelJsonTest, InputsOfAnOpaqueTypeKeepTheirNames) {
  const Json got = inputs({value("x", Message().message(7, Message().bytes(1, "com.example").bytes(2, "Handle")))});
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0]["name"], "x");
  EXPECT_EQ(got[0]["type"], "opaque");
  EXPECT_EQ(got[0]["domain"], "com.example");
}

TEST_F(ModelJsonTest, GraphsInPartsAreOne) {
  const Message first =
      Message().bytes(2, "old").message(11, value("a", tensor_type(1, {}))).message(12, value("y", unsaid));
  const Message second = Message().message(11, value("b", tensor_type(1, {}))).bytes(2, "new");
  const Json got = json(Message().message(7, first).varint(1, 8).message(7, second));
  EXPECT_EQ(got["graph_name"], "new");
  EXPECT_EQ(got["inputs"].size(), 2u);
  EXPECT_EQ(got["outputs"].size(), 1u);
  EXPECT_EQ(got["counts"]["inputs"], 2);
}

TEST_F(ModelJsonTest, ValuesOfOneKeyAreAList) {
  Message message = testing::model(Message());
  for (const auto& [key, value] : {std::pair{"k", "a"}, {"other", "x"}, {"k", "b"}, {"k", "a"}, {"", ""}}) {
    message.message(14, entry(key, value));
  }
  EXPECT_EQ(json(message)["metadata_props"].dump(), R"({"k":["a","b","a"],"other":"x","":""})");
}

TEST_F(ModelJsonTest, TextThatIsNotUtf8IsShown) {
  const Json got = json(testing::model(Message().bytes(2, "bad \xff name")).bytes(2, "caf\xc3\xa9"));
  EXPECT_EQ(got["graph_name"], "bad \uFFFD name");
  EXPECT_EQ(got["producer_name"], "café");
  EXPECT_EQ(Json::parse(text(testing::model(Message()), "n\nl.onnx"))["file"], "n\nl.onnx");
}

TEST_F(ModelJsonTest, PartsThatAreNoMessagesAreNoModel) {
  const Message good = testing::model(Message());
  for (const uint32_t field : {8u, 14u, 26u}) {
    EXPECT_ERROR(text(Message(good).bytes(field, "\x0a\xff")), EBADMSG,
                 "corrupt at offset " + std::to_string(good.size()));
  }
  for (const uint32_t field : {11u, 12u, 16u}) {
    EXPECT_ERROR(text(testing::model(Message().bytes(field, "\x0a\xff"))), EBADMSG, "corrupt at offset");
  }
}

// What is nested too deep for protobuf is an error as well, and no crash.
TEST_F(ModelJsonTest, TypesMayBeNestedToTheDepthThatProtobufReads) {
  const auto nested = [](int depth) {
    Message type = tensor_type(1, {});
    for (int i = 0; i < depth; ++i) type = Message().message(4, Message().message(1, type));
    return value("deep", type);
  };
  EXPECT_EQ(inputs({nested(40)}).size(), 1u);
  EXPECT_ERROR(inputs({nested(20'000)}), EBADMSG, "corrupt");
}

TEST_F(ModelJsonTest, TensorsAndNodesAreNoPartOfIt) {
  const Message initializer = testing::tensor("w", 2, {1 << 20}).bytes(9, std::string(1 << 20, 'w'));
  EXPECT_LT(text(testing::model(testing::graph({initializer}))).size(), 2000u);
}

// Twice the properties take about twice the time: a file of a few megabytes must not keep us for hours.
// With the square of their number, this would take longer than all tests may.
TEST_F(ModelJsonTest, ManyPropertiesCostTheirNumber) {
  constexpr int count = 1'000'000;
  Message message = testing::model(Message());
  for (int i = 0; i < count; ++i) message.message(14, entry(fmt::format("key {}", i), "v"));
  const auto model = testing::open_model(folder_, message);
  EXPECT_GT(model_json(*model).size(), size_t{10} * count);
}

}  // namespace
}  // namespace onnxfs
