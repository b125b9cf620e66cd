#include <gtest/gtest.h>

#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::float_bytes;
using testing::int64_bytes;
using testing::Message;
using testing::Placed;
using testing::placed;
using testing::tensor;
namespace type = testing::type;

class SparseTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const std::vector<Message>& sparse) {
    Message graph;
    for (const Message& tensor : sparse) graph.message(15, tensor);
    return testing::open_model(folder_, testing::model(graph));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(SparseTest, IsTwoTensorsCalledByItsValues) {
  const auto model = open({testing::sparse("enc/w", 5), testing::sparse("enc/w", 6), testing::sparse("", 7)});
  EXPECT_EQ(placed(*model), (Placed{{"sparse_initializers/enc/w/values", float_bytes({5})},
                                    {"sparse_initializers/enc/w/indices", int64_bytes({3})},
                                    {"sparse_initializers/enc/w@2/values", float_bytes({6})},
                                    {"sparse_initializers/enc/w@2/indices", int64_bytes({3})},
                                    {"sparse_initializers/unnamed/values", float_bytes({7})},
                                    {"sparse_initializers/unnamed/indices", int64_bytes({3})}}));
  EXPECT_EQ(model->catalog().counts().sparse_initializers, 3u);
  EXPECT_EQ(model->catalog().tensors()[0].kind, Kind::sparse_values);
  EXPECT_EQ(model->catalog().tensors()[1].kind, Kind::sparse_indices);
}

TEST_F(SparseTest, DenseShapeIsThatOfBothParts) {
  const Message dims_packed = Message().message(1, tensor("a", type::float32, {0})).bytes(3, "\x02\x03").varint(3, 4);
  const auto model = open({dims_packed, testing::sparse("b", 1)});
  const auto shape = [&model](uint32_t index) {
    const auto* dims = model->catalog().dense_shape(index);
    return dims == nullptr ? std::vector<int64_t>{-1} : std::vector<int64_t>(dims->begin(), dims->end());
  };
  EXPECT_EQ(shape(0), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(shape(1), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(shape(2), std::vector<int64_t>{4});
  EXPECT_EQ(shape(3), std::vector<int64_t>{4});
  const auto dense = testing::open_model(folder_, testing::model(testing::graph({testing::scalar("w")})));
  EXPECT_EQ(dense->catalog().dense_shape(0), nullptr);
}

TEST_F(SparseTest, MissingPartIsShownAsBroken) {
  const Message values = Message().message(1, tensor("v", type::float32, {1}).bytes(9, "1234")).varint(3, 4);
  const Message indices = Message().message(2, tensor("", type::int64, {1}).packed(7, {3})).varint(3, 4);
  const Placed tensors = placed(*open({values, indices, Message()}));
  EXPECT_EQ(tensors.size(), 6u);
  EXPECT_EQ(tensors.at("sparse_initializers/v/values"), "1234");
  EXPECT_TRUE(tensors.at("sparse_initializers/v/indices").starts_with("!"));
  EXPECT_TRUE(tensors.at("sparse_initializers/unnamed/values").starts_with("!"));
  EXPECT_EQ(tensors.at("sparse_initializers/unnamed/indices"), int64_bytes({3}));
  EXPECT_TRUE(tensors.at("sparse_initializers/unnamed@2/values").starts_with("!"));
}

TEST_F(SparseTest, PartsMayBeExternalOrInPieces) {
  folder_.write("w.bin", "pad12345678");
  const Message external = testing::external(tensor("v", type::float32, {2}), {{"location", "w.bin"}, {"offset", "3"}});
  const Message message = Message()
                              .message(1, external)
                              .message(2, tensor("", type::int64, {1}).packed(7, {1}))
                              .varint(3, 4)
                              .message(2, Message().varint(1, 2).packed(7, {2}));
  const auto model = open({message});
  EXPECT_EQ(placed(*model), (Placed{{"sparse_initializers/v/values", "12345678"},
                                    {"sparse_initializers/v/indices", int64_bytes({1, 2})}}));
  EXPECT_EQ(model->catalog().tensors()[1].dims.size(), 2u);
}

}  // namespace
}  // namespace onnxfs
