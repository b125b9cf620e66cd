#include "core/views/tensor_content.h"

#include "tests/unit/contents.h"

namespace onnxfs {
namespace {

using testing::Dims;
using testing::tensor;
namespace type = testing::type;

class TensorContentTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_ = testing::open_model(
      folder_,
      testing::model(testing::graph(
          {tensor("w", type::uint8, {2, 3}).bytes(9, "abcdef").bytes(12, "documented"), testing::scalar("s")})));
};

TEST_F(TensorContentTest, IsAsTheFileHasItWithoutEdits) {
  const TensorContent content = tensor_content(*model_, 0, nullptr, model_->payload(0));
  EXPECT_EQ(content.tensor.name, "w");
  EXPECT_EQ(content.dims, (Dims{2, 3}));
  EXPECT_EQ(content.doc_string, "documented");
  EXPECT_EQ(content.payload.text(), "abcdef");
  EXPECT_EQ(tensor_content(*model_, 1, nullptr, Rope()).doc_string, "");
}

TEST_F(TensorContentTest, EditsCount) {
  TensorEdit edit;
  edit.dims = Dims{6};
  EXPECT_EQ(tensor_content(*model_, 0, &edit, Rope()).dims, Dims{6});
  EXPECT_EQ(tensor_content(*model_, 0, &edit, Rope()).doc_string, "documented");
  edit.doc_string = "";
  EXPECT_EQ(tensor_content(*model_, 0, &edit, Rope()).doc_string, "");
  edit.dims = Dims{};
  EXPECT_EQ(tensor_content(*model_, 1, &edit, Rope()).dims, Dims{});
}

TEST(StoredElements, OfAnUnknownTypeAreBytes) {
  const TensorContent unknown = testing::content_of(99, {-5, 0}, "abc");
  EXPECT_EQ(stored_elements(unknown.tensor), 3u);
  EXPECT_EQ(stored_dims(unknown.tensor, unknown.dims), Dims{3});
  const TensorContent known = testing::content_of(type::int16, {1, 2}, "abcd");
  EXPECT_EQ(stored_elements(known.tensor), 2u);
  EXPECT_EQ(stored_dims(known.tensor, known.dims), (Dims{1, 2}));
}

}  // namespace
}  // namespace onnxfs
