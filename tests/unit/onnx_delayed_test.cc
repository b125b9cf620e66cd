// Nodes whose tensor stands in a file that they name.
#include <gtest/gtest.h>

#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::attribute;
using testing::Message;
using testing::node;
using testing::placed;
using testing::with;
namespace attribute_type = testing::attribute_type;

struct Delayed {
  std::vector<int64_t> shape{2};
  int64_t dtype = 1;
  std::string filename = "w.bin";
  int64_t offset = 0;

  std::vector<Message> attributes() const {
    Message dims = attribute("shape", attribute_type::integers);
    for (const int64_t dim : shape) dims.varint(8, static_cast<uint64_t>(dim));
    return {dims,
            attribute("dtype", attribute_type::integer).varint(3, static_cast<uint64_t>(dtype)),
            attribute("load_device", attribute_type::string).bytes(4, "file"),
            attribute("runtime_device", attribute_type::string).bytes(4, "cpu"),
            attribute("filename", attribute_type::string).bytes(4, filename),
            attribute("offset", attribute_type::integer).varint(3, static_cast<uint64_t>(offset))};
  }
};

Message delayed_node(const std::vector<Message>& attributes, const std::string& output = "Y") {
  return with(node("DelayedInitializer", {}, {output}), attributes).bytes(7, "ai.rt");
}

class DelayedTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const Message& node) {
    return testing::open_model(folder_, testing::model(testing::graph_of({node})));
  }
  // What stands at delayed/Y.
  std::string content(const std::vector<Message>& attributes) {
    const auto tensors = placed(*open(delayed_node(attributes)));
    EXPECT_EQ(tensors.size(), 1u);
    return tensors.contains("delayed/Y") ? tensors.at("delayed/Y") : "none";
  }
  std::string content(const Delayed& delayed) { return content(delayed.attributes()); }

  testing::TemporaryFolder folder_;
  std::string data_ = folder_.write("w.bin", "0123456789abcdef");
};

TEST_F(DelayedTest, IsTheRangeOfItsFile) {
  EXPECT_EQ(content(Delayed{}), "01234567");
  EXPECT_EQ(content(Delayed{.offset = 8}), "89abcdef");
  EXPECT_EQ(content(Delayed{.shape = {}, .offset = 3}), "3456");
  EXPECT_EQ(content(Delayed{.shape = {5}, .dtype = 22, .offset = 1}), "123");
  const auto model = open(delayed_node(Delayed{.offset = 8}.attributes()));
  const Tensor& tensor = model->catalog().tensors()[0];
  EXPECT_EQ(tensor.kind, Kind::delayed);
  EXPECT_EQ(tensor.storage, Storage::delayed);
  EXPECT_EQ(tensor.data, (ByteRange{8, 16}));
  EXPECT_EQ(model->file_name_of(tensor), "w.bin");
}

TEST_F(DelayedTest, NoElementsNeedNoFile) {
  EXPECT_EQ(content(Delayed{.shape = {0, 3}, .filename = "missing"}), "");
  EXPECT_EQ(content(Delayed{.shape = {0}, .filename = "", .offset = -1}), "");
}

TEST_F(DelayedTest, WhatIsRefusedOrMissingIsBroken) {
  const auto is_broken = [](const std::string& content, const std::string& reason) {
    EXPECT_TRUE(content.starts_with("!")) << content;
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, reason, content);
  };
  is_broken(content(Delayed{.filename = "missing.bin"}), "is missing");
  is_broken(content(Delayed{.filename = data_}), "is absolute");
  is_broken(content(Delayed{.filename = "../w.bin"}), "leads out");
  is_broken(content(Delayed{.filename = ""}), "without a filename");
  is_broken(content(Delayed{.filename = std::string(5000, 'f')}), "filename has 5000 bytes");
  is_broken(content(Delayed{.offset = 9}), "ends past the 16 bytes");
  is_broken(content(Delayed{.offset = INT64_MAX}), "ends past the 16 bytes");
  is_broken(content(Delayed{.offset = -1}), "offset");
  is_broken(content(Delayed{.shape = {-1}}), "no shape");
  is_broken(content(Delayed{.shape = {INT64_MAX, 3}}), "no shape");
  is_broken(content(Delayed{.shape = {INT64_MAX}, .dtype = 11}), "no shape");
  is_broken(content(Delayed{.dtype = 8}), "strings");
  is_broken(content(Delayed{.dtype = 99}), "data type 99");
  is_broken(content(Delayed{.dtype = 0x1'0000'0001}), "data type 4294967297");
}

TEST_F(DelayedTest, EachMissingAttributeThatCountsIsBroken) {
  for (const size_t missing : {0u, 1u, 4u, 5u}) {
    std::vector<Message> attributes = Delayed{}.attributes();
    attributes.erase(attributes.begin() + static_cast<ptrdiff_t>(missing));
    EXPECT_TRUE(content(attributes).starts_with("!")) << missing;
  }
  for (const size_t device : {2u, 3u}) {
    std::vector<Message> attributes = Delayed{}.attributes();
    attributes.erase(attributes.begin() + static_cast<ptrdiff_t>(device));
    EXPECT_EQ(content(attributes), "01234567");
  }
}

TEST_F(DelayedTest, NodeWithoutAnyAttributeIsListedToo) {
  EXPECT_TRUE(content(std::vector<Message>{}).starts_with("!"));
}

TEST_F(DelayedTest, OtherNodesAreNot) {
  const Message of_another_domain = with(node("DelayedInitializer", {}, {"Y"}), Delayed{}.attributes());
  EXPECT_TRUE(placed(*open(of_another_domain)).empty());
  const Message of_another_kind = with(node("Quantize", {}, {"Y"}), Delayed{}.attributes()).bytes(7, "ai.rt");
  EXPECT_TRUE(placed(*open(of_another_kind)).empty());
}

TEST_F(DelayedTest, IsCalledByItsOutput) {
  Message unnamed = with(node("DelayedInitializer", {}, {}), Delayed{}.attributes()).bytes(7, "ai.rt");
  EXPECT_EQ(placed(*open(unnamed)).count("delayed/node_0"), 1u);
  EXPECT_EQ(placed(*open(unnamed.bytes(3, "name"))).count("delayed/name"), 1u);
  EXPECT_EQ(placed(*open(delayed_node(Delayed{}.attributes(), "a/b").bytes(3, "name"))).count("delayed/a/b"), 1u);
}

}  // namespace
}  // namespace onnxfs
