// What is odd about how tensors lie in their data files.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::Message;
namespace type = testing::type;

struct Use {
  uint64_t offset;
  uint64_t length;
  std::string location = "w.bin";
};

class DataGapsTest : public ::testing::Test {
 protected:
  std::vector<std::string> found(uint64_t file_size, const std::vector<Use>& uses) {
    folder_.write("w.bin", "");
    std::filesystem::resize_file(folder_ / "w.bin", file_size);
    std::vector<Message> tensors;
    for (size_t i = 0; i < uses.size(); ++i) {
      const Message tensor =
          testing::tensor(fmt::format("t{}", i), type::uint8, {static_cast<int64_t>(uses[i].length)});
      tensors.push_back(
          testing::external(tensor, {{"location", uses[i].location}, {"offset", std::to_string(uses[i].offset)}}));
    }
    model_ = testing::open_model(folder_, testing::model(testing::graph(tensors)));
    return testing::findings(*model_);
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
};

using Texts = std::vector<std::string>;

TEST_F(DataGapsTest, FilesThatAreAllUsedAreNotOdd) {
  EXPECT_EQ(found(30, {{0, 10}, {10, 20}}), Texts());
  EXPECT_EQ(found(30, {{10, 20}, {0, 10}}), Texts());
  EXPECT_EQ(found(10, {{0, 10}}), Texts());
}

TEST_F(DataGapsTest, AlignmentIsNoGap) {
  EXPECT_EQ(found(20, {{0, 3}, {4, 16}}), Texts());
  EXPECT_EQ(found(5000, {{0, 10}, {4096, 904}}), Texts());
  EXPECT_EQ(found(70'000, {{0, 1}, {65'536, 4464}}), Texts());
  EXPECT_EQ(found(4096, {{0, 10}}), Texts()) << "the end may be padded too";
}

TEST_F(DataGapsTest, BytesThatBelongToNoneAreAFinding) {
  EXPECT_EQ(found(30, {{0, 10}, {15, 15}}),
            Texts{"\"w.bin\" has 5 bytes in a gap that belong to no tensor, the first at offset 10"});
  EXPECT_EQ(found(200, {{10, 1}, {30, 20}}),
            Texts{"\"w.bin\" has 179 bytes in gaps that belong to no tensor, the first at offset 0"});
  EXPECT_EQ(found(300'000, {{0, 10}, {131'072, 168'928}}),
            Texts{"\"w.bin\" has 131062 bytes in a gap that belong to no tensor, the first at offset 10"});
  EXPECT_EQ(model_->findings()[0].tensor, Tensor::no_index);
  EXPECT_EQ(found(16, {{8, 8}}),
            Texts{"\"w.bin\" has 8 bytes in a gap that belong to no tensor, the first at offset 0"})
      << "a whole step of the alignment is no padding";
  found(30, {{0, 10}, {15, 15}});
  EXPECT_FALSE(model_->findings()[0].offset);
}

TEST_F(DataGapsTest, SharedBytesAreAFindingUnlessTheyAreTheSame) {
  EXPECT_EQ(found(30, {{0, 30}, {0, 30}, {0, 30}}), Texts()) << "tied weights";
  EXPECT_EQ(found(30, {{0, 20}, {10, 20}}),
            Texts{"its bytes from 10 of \"w.bin\" on are partly those of another tensor too"});
  EXPECT_EQ(model_->findings()[0].tensor, 1u);
  EXPECT_EQ(found(30, {{0, 30}, {5, 5}}),
            Texts{"its bytes from 5 of \"w.bin\" on are partly those of another tensor too"});
  EXPECT_EQ(found(30, {{0, 30}, {5, 5}, {20, 10}}).size(), 2u);
}

TEST_F(DataGapsTest, TensorsWithoutElementsUseNothing) {
  EXPECT_EQ(found(20, {{0, 10}, {10, 10}, {5, 0}}), Texts());
  EXPECT_EQ(found(20, {{5, 0}}), Texts()) << "a file that nobody opened";
}

TEST_F(DataGapsTest, TheModelItselfIsPassedOver) {
  EXPECT_EQ(found(10, {{0, 10}, {2, 5, "model.onnx"}, {3, 9, "./model.onnx"}}), Texts());
}

// Two ways to a file are one file: what the tensors of the one leave is used by those of the other.
TEST_F(DataGapsTest, OneFileByTwoNamesIsOne) {
  folder_.symlink("also.bin", "w.bin");
  EXPECT_EQ(found(30, {{0, 15}, {15, 15, "also.bin"}}), Texts());
}

}  // namespace
}  // namespace onnxfs
