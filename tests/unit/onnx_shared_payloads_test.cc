#include "core/onnx/shared_payloads.h"

#include <gtest/gtest.h>

#include "core/onnx/model.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::external;
using testing::Message;
using testing::tensor;
namespace type = testing::type;

class SharedPayloadsTest : public ::testing::Test {
 protected:
  SharedPayloadsTest() {
    for (const char* name : {"a.bin", "b.bin"}) folder_.write(name, std::string(32, 'w'));
  }

  static Message in(const std::string& location, int64_t offset, int64_t length) {
    return external(tensor("t", type::uint8, {length}), {{"location", location}, {"offset", std::to_string(offset)}});
  }
  SharedPayloads shared(const std::vector<Message>& tensors) {
    model_ = testing::open_model(folder_, testing::model(testing::graph(tensors)));
    return SharedPayloads(model_->catalog());
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
};

TEST_F(SharedPayloadsTest, EachTensorIsItsOwnAtFirst) {
  const SharedPayloads none = shared(
      {in("a.bin", 0, 8), in("a.bin", 8, 8), in("b.bin", 0, 8), tensor("raw", type::uint8, {8}).bytes(9, "12345678")});
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(none.owner(i), i);
    EXPECT_EQ(none.sharers(i), std::vector{i});
    EXPECT_FALSE(none.overlaps(i));
  }
  EXPECT_EQ(SharedPayloads().owner(7), 7u);
  EXPECT_EQ(SharedPayloads().sharers(7), std::vector{7u});
}

TEST_F(SharedPayloadsTest, TheFirstWithAPayloadOwnsIt) {
  std::filesystem::create_symlink("a.bin", folder_ / "link.bin");
  const SharedPayloads tied = shared({in("b.bin", 4, 8), in("a.bin", 0, 8), in("a.bin", 8, 8), in("./a.bin", 0, 8),
                                      in("link.bin", 0, 8), in("b.bin", 0, 4)});
  EXPECT_EQ(tied.sharers(1), (std::vector<uint32_t>{1, 3, 4}));
  for (const uint32_t tensor : {1u, 3u, 4u}) {
    EXPECT_EQ(tied.owner(tensor), 1u);
    EXPECT_FALSE(tied.overlaps(tensor));
  }
  for (const uint32_t tensor : {0u, 2u, 5u}) EXPECT_EQ(tied.owner(tensor), tensor);
}

TEST_F(SharedPayloadsTest, PayloadsThatOverlapAreNamed) {
  const SharedPayloads partly = shared({in("a.bin", 0, 16), in("a.bin", 4, 2), in("a.bin", 8, 2), in("a.bin", 8, 2),
                                        in("a.bin", 16, 4), in("b.bin", 8, 2)});
  EXPECT_TRUE(partly.overlaps(0));
  EXPECT_EQ(partly.overlaps(1), 0u);
  EXPECT_EQ(partly.overlaps(2), 0u) << "behind one that lies within the first";
  EXPECT_EQ(partly.overlaps(3), 0u) << "of its owner";
  EXPECT_EQ(partly.owner(3), 2u);
  EXPECT_FALSE(partly.overlaps(4));
  EXPECT_FALSE(partly.overlaps(5));
}

TEST_F(SharedPayloadsTest, EmptyAndBrokenTensorsShareNothing) {
  const SharedPayloads odd =
      shared({in("a.bin", 0, 0), in("a.bin", 0, 0), in("a.bin", 30, 8), in("a.bin", 30, 8), in("none.bin", 0, 8)});
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(odd.owner(i), i);
}

}  // namespace
}  // namespace onnxfs
