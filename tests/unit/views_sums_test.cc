#include "core/views/sums.h"

#include "core/bytes/hash.h"
#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using testing::Message;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

class SumsTest : public ::testing::Test {
 protected:
  void open(const std::vector<Message>& tensors) {
    model_ = testing::open_model(folder_, testing::model(testing::graph(tensors)));
  }

  Rope sums() {
    return xxh128_sums(
        {model_,
         [](uint32_t tensor) { return "initializers/" + std::string(tensor % 3, 'n') + std::to_string(tensor); },
         [this](uint32_t tensor) {
           hashed_.push_back(tensor);
           const TensorEditPtr edit = edits_.find(tensor);
           return edit && edit->payload ? *edit->payload : model_->payload(tensor);
         },
         [this](uint32_t tensor) { return edits_.version(tensor); }, cache_});
  }

  void edit(uint32_t tensor, const std::string& payload) {
    auto edit = std::make_shared<TensorEdit>();
    edit->payload = Rope::of(payload);
    edits_.put(tensor, edit);
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
  EditTable edits_;
  std::shared_ptr<DigestCache> cache_ = std::make_shared<DigestCache>();
  std::vector<uint32_t> hashed_;
};

TEST_F(SumsTest, HaveALineATensor) {
  open({tensor("a", type::uint8, {3}).bytes(9, "abc"), tensor("b", type::uint8, {0})});
  EXPECT_EQ(sums().text(),
            "06b05ab6733a618578af5f94892f3950  initializers/0.bin\n"
            "99aa06d3014798d86001c324468d497f  initializers/n1.bin\n");
}

TEST_F(SumsTest, OfNothingAreEmpty) {
  open({});
  EXPECT_EQ(sums().size(), 0u);
}

TEST_F(SumsTest, TheSizeNeedsNoHash) {
  open({scalar("a"), scalar("b")});
  EXPECT_EQ(sums().size(), 53u + 54);
  EXPECT_TRUE(hashed_.empty());
}

TEST_F(SumsTest, EveryRangeIsRight) {
  open({scalar("a"), scalar("b"), tensor("c", type::uint8, {3}).bytes(9, "abc")});
  const Rope rope = sums();
  testing::expect_every_read_alike(rope, rope.text());
}

TEST_F(SumsTest, AReadHashesTheLinesThatItAsksForOnce) {
  open({scalar("a"), scalar("b"), scalar("c"), scalar("d")});
  const Rope rope = sums();
  testing::read_text(rope, 60, 2);
  EXPECT_EQ(hashed_, std::vector<uint32_t>{1});
  testing::read_text(rope, 53 + 40, 2);  // in the path of the second, which needs no hash
  testing::read_text(rope, 53 + 54 - 1, 2);
  EXPECT_EQ(hashed_, (std::vector<uint32_t>{1, 2}));
  rope.text();
  EXPECT_EQ(hashed_, (std::vector<uint32_t>{1, 2, 0, 3}));
  EXPECT_EQ(sums().text(), rope.text());
  EXPECT_EQ(hashed_.size(), 4u);
}

TEST_F(SumsTest, WhatIsEditedIsHashedAnew) {
  open({scalar("a"), scalar("b")});
  const std::string before = sums().text();
  edit(1, "abc");
  const std::string after = sums().text();
  EXPECT_EQ(after.substr(0, 53), before.substr(0, 53));
  EXPECT_EQ(after.substr(53, 32), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(hashed_, (std::vector<uint32_t>{0, 1, 1}));
  edits_.put(1, nullptr);
  EXPECT_EQ(sums().text(), before);
}

// The edit comes between the question for the version and that for the payload.
TEST_F(SumsTest, AHashIsOfTheVersionThatItIsKeptFor) {
  open({scalar("a")});
  bool edited = false;
  SumsSubject subject{model_, [](uint32_t) { return "a"; },
                      [&](uint32_t) {
                        Rope payload = edited ? Rope::of("abc") : Rope::of("old");
                        if (!edited) edit(0, "abc");
                        edited = true;
                        return payload;
                      },
                      [this](uint32_t tensor) { return edits_.version(tensor); }, cache_};
  EXPECT_EQ(xxh128_sums(subject).text().substr(0, 32), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(cache_->find(0, 0), std::nullopt);
  EXPECT_EQ(cache_->find(0, 1), "06b05ab6733a618578af5f94892f3950");
}

TEST_F(SumsTest, BrokenTensorsHaveNoLine) {
  open({tensor("a", type::float32, {2}).bytes(9, "123"), scalar("b")});
  EXPECT_TRUE(sums().text().ends_with("  initializers/n1.bin\n"));
  EXPECT_EQ(sums().size(), 54u);
}

TEST_F(SumsTest, WhatOnlyReadingShowsToBeBrokenIsLeftOutFromThenOn) {
  open({tensor("w", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300)), scalar("b")});
  const Rope rope = sums();
  EXPECT_ERROR(rope.text(), EIO, "5000 entries");
  EXPECT_EQ(sums().size(), 54u);
}

TEST_F(SumsTest, AreStaleWhenTheModelIs) {
  open({scalar("a")});
  const Rope rope = sums();
  EXPECT_NO_THROW(rope.require_current());
  folder_.write("model.onnx", "another");
  EXPECT_ERROR(rope.require_current(), ESTALE, "model.onnx");
}

}  // namespace
}  // namespace onnxfs
