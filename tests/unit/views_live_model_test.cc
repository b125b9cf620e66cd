// The live model, case by case.
#include "core/views/live_model.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/edits.h"
#include "tests/unit/errors.h"
#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::attribute;
using testing::external;
using testing::float_bytes;
using testing::graph;
using testing::int64_bytes;
using testing::Message;
using testing::model;
using testing::Placed;
using testing::placed;
using testing::scalar;
using testing::string_bytes;
using testing::tensor;
namespace type = testing::type;

class LiveModelTest : public ::testing::Test {
 protected:
  void open(const Message& message, std::string_view name = "model.onnx") {
    model_ = testing::open_model(folder_, message, name);
    places_ = testing::places(*model_);
  }

  TensorEdit& edit(const std::string& path) { return edits_[places_.at(path)]; }

  Edits edits() const {
    Edits result;
    for (const auto& [index, edit] : edits_) result.emplace(index, std::make_shared<const TensorEdit>(edit));
    return result;
  }

  std::string text() const { return live_model(*model_, edits()).text(); }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
  std::map<std::string, uint32_t> places_;
  std::map<uint32_t, TensorEdit> edits_;
};

TEST_F(LiveModelTest, RawDataStaysWhereItIs) {
  open(model(graph({tensor("w", type::uint8, {3}).bytes(9, "abc")})));
  edit("initializers/w").payload = Rope::of("xyz");
  EXPECT_EQ(text(), model(graph({tensor("w", type::uint8, {3}).bytes(9, "xyz")})).str());
}

TEST_F(LiveModelTest, VarintsBecomeRawDataWhereTheyFirstStood) {
  const Message head = Message().varint(1, 3).varint(2, type::int64);
  open(model(graph({Message(head).varint(7, 1).bytes(8, "w").packed(7, {2, 3}).bytes(12, "d")})));
  const std::string payload = int64_bytes({-1, 5, 7});
  edit("initializers/w").payload = Rope::of(payload);
  EXPECT_EQ(text(), model(graph({Message(head).bytes(9, payload).bytes(8, "w").bytes(12, "d")})).str());
  EXPECT_FALSE(model_patches(*model_, edits()));
}

TEST_F(LiveModelTest, StringsStayStrings) {
  open(model(graph({tensor("w", type::string, {2}).bytes(6, "a").varint(1000, 1).bytes(6, "b")})));
  const std::string longer(5000, 'l');
  edit("initializers/w").payload = Rope::of(string_bytes({longer, ""}));
  EXPECT_EQ(text(), model(graph({tensor("w", type::string, {2}).bytes(6, longer).bytes(6, "").varint(1000, 1)})).str());
}

TEST_F(LiveModelTest, StringsOfAnotherCountAreAnError) {
  open(model(graph({tensor("w", type::string, {2}).bytes(6, "a").bytes(6, "b")})));
  edit("initializers/w").payload = Rope::of(string_bytes({"one"}));
  EXPECT_ERROR(text(), EINVAL, "1 strings, where the shape needs 2");
  edit("initializers/w").payload = Rope::of(string_bytes({"one", "two"}).substr(0, 12));
  EXPECT_ERROR(text(), EINVAL, "string 1 at 7 has 3 bytes, and 1 are left");
  edit("initializers/w").payload = Rope::of(string_bytes({"one", "two"}) + "ab");
  EXPECT_ERROR(text(), EINVAL, "the length of string 2 at 14 does not end");
}

TEST_F(LiveModelTest, DimsAndDocumentationStandWhereTheyStood) {
  const Message rest = Message().varint(2, type::uint8).bytes(8, "w");
  open(model(graph({Message(rest).bytes(12, "old").packed(1, {2, 3}).bytes(9, "abcdef").bytes(12, "older")})));
  edit("initializers/w").dims = {3, 2};
  edit("initializers/w").doc_string = "new";
  EXPECT_EQ(text(), model(graph({Message(rest).bytes(12, "new").varint(1, 3).varint(1, 2).bytes(9, "abcdef")})).str());
}

TEST_F(LiveModelTest, NewDimsComeFirstAndNewDocumentationLast) {
  open(model(graph({scalar("w")})));
  edit("initializers/w").dims = {1};
  edit("initializers/w").doc_string = "new";
  EXPECT_EQ(text(), model(graph({Message().varint(1, 1).append(scalar("w").str()).bytes(12, "new")})).str());
  edit("initializers/w").dims = std::vector<int64_t>{};
  edit("initializers/w").doc_string = "";
  EXPECT_EQ(text(), model(graph({scalar("w")})).str());
  EXPECT_TRUE(model_patches(*model_, edits())->empty());
}

TEST_F(LiveModelTest, DimsOfAnotherCountAreAnError) {
  open(model(graph({scalar("w")})));
  edit("initializers/w").dims = {2};
  EXPECT_ERROR(text(), EINVAL, "tensor \"w\" has 1 elements, which do not make the shape [2]");
  edit("initializers/w").dims = {-1};
  EXPECT_ERROR(text(), EINVAL, "shape [-1]");
}

TEST_F(LiveModelTest, PayloadOfAnotherSizeIsAnError) {
  open(model(graph({scalar("w")})));
  edit("initializers/w").payload = Rope::of("12345");
  EXPECT_ERROR(text(), EINVAL, "tensor \"w\" has 4 bytes; an edit of 5");
}

TEST_F(LiveModelTest, BrokenTensorIsAnError) {
  open(model(graph({tensor("w", type::uint8, {3}).bytes(9, "ab")})));
  edit("initializers/w").payload = Rope::of("abc");
  EXPECT_ERROR(text(), EIO, "raw_data has 2 bytes");
}

TEST_F(LiveModelTest, PlainListsStayLists) {
  const auto with = [](const Message& floats, const Message& ints, const Message& strings, const Message& single) {
    const auto constant = [](const char* output, const Message& value) {
      return testing::with(testing::node("Constant", {}, {output}), {value});
    };
    return model(testing::graph_of(
        {constant("f", floats), constant("i", ints), constant("s", strings), constant("one", single)}));
  };
  const Message floats = attribute("v", 6), ints = attribute("v", 7), strings = attribute("v", 8),
                one = attribute("v", 2);
  open(with(Message(floats).bytes(7, float_bytes({1, 2})).number(7, 3), Message(ints).packed(8, {1, 2}).varint(8, 3),
            Message(strings).bytes(9, "a").bytes(9, "b"), Message(one).varint(3, 7)));
  edit("attributes/f/v").payload = Rope::of(float_bytes({4, 5, 6}));
  edit("attributes/i/v").payload = Rope::of(int64_bytes({-4, 5, 600}));
  edit("attributes/s/v").payload = Rope::of(string_bytes({"", "xyz"}));
  edit("attributes/one/v").payload = Rope::of(int64_bytes({-1}));
  EXPECT_EQ(text(), with(Message(floats).number(7, 4).number(7, 5).number(7, 6),
                         Message(ints).varint(8, static_cast<uint64_t>(-4)).varint(8, 5).varint(8, 600),
                         Message(strings).bytes(9, "").bytes(9, "xyz"), Message(one).varint(3, UINT64_MAX))
                        .str());
  edit("attributes/one/v").doc_string = "no place for it";
  EXPECT_ERROR(text(), EINVAL, "\"v\" is a value of an attribute and no TensorProto; it has no documentation");
}

TEST_F(LiveModelTest, KeysOfEveryTypeKeepTheirSign) {
  const auto values = [](size_t count) {
    Message sequence = Message().varint(2, 1);
    for (size_t i = 0; i < count; ++i) sequence.message(3, scalar("v"));
    return sequence;
  };
  const std::vector<std::pair<int32_t, std::string>> cases{
      {type::int8, "\xff\x7f"},
      {type::uint8, "\xff\x7f"},
      {type::int16, std::string("\xff\xff\x01\x00", 4)},
      {type::uint32, std::string("\xff\xff\xff\xff\x01\x00\x00\x00", 8)},
      {type::int64, int64_bytes({-5, 5})},
      {type::uint64, int64_bytes({-5, 5})},
      {type::string, string_bytes({"k", ""})},
  };
  for (const auto& [key_type, payload] : cases) {
    edits_.clear();
    Message map = Message().varint(2, static_cast<uint64_t>(key_type));
    key_type == type::string ? map.bytes(4, "a").bytes(4, "b") : map.packed(3, {1, 2});
    open(map.message(5, values(2)), "map.pb");
    edit("values/keys").payload = Rope::of(payload);
    edit("values/0").payload = Rope::of(float_bytes({8}));
    const auto written = Model::open(folder_.write("new.pb", text()));
    EXPECT_EQ(written->root(), Root::map);
    EXPECT_EQ(placed(*written),
              (Placed{{"values/keys", payload}, {"values/0", float_bytes({8})}, {"values/1", float_bytes({1})}}));
  }
}

TEST_F(LiveModelTest, UnusedBitsOfWhatIsWrittenAnewAreZero) {
  const Message typed = Message().varint(1, 3).varint(2, type::int4).bytes(8, "t");
  const Message raw = tensor("r", type::uint2, {5});
  const Message six = Message().varint(1, 1).varint(2, type::float6).bytes(8, "s");
  open(model(
      graph({Message(typed).packed(5, {0x21, 0x03}), Message(raw).bytes(9, "\x10\xf1"), Message(six).varint(5, 1)})));
  edit("initializers/t").payload = Rope::of("\x99\xf9");
  edit("initializers/s").payload = Rope::of("\xff");
  EXPECT_EQ(text(), model(graph({Message(typed).bytes(9, "\x99\x09"), Message(raw).bytes(9, "\x10\xf1"),
                                 Message(six).bytes(9, "\x3f")}))
                        .str());
  edits_.clear();
  // What was not written over stays.
  edit("initializers/r").payload = model_->payload(places_.at("initializers/r")).spliced(0, 1, Rope::of("\x11"));
  EXPECT_EQ(model_patches(*model_, edits()).value().front().content.text(), "\x11");
  edit("initializers/r").payload = Rope::of("\x12\xff");
  EXPECT_EQ(model_patches(*model_, edits()).value().front().content.text(), "\x12\x03");
}

TEST_F(LiveModelTest, PatchesAreWhatWasWrittenOver) {
  open(model(graph({tensor("a", type::uint8, {1000}).bytes(9, std::string(1000, 'a')),
                    tensor("b", type::uint8, {4}).bytes(9, "bbbb")})));
  const uint32_t a = places_.at("initializers/a");
  edit("initializers/b").payload = Rope::of("cccc");
  edit("initializers/a").payload = model_->payload(a).spliced(500, 2, Rope::of("xx"));
  const auto patches = model_patches(*model_, edits()).value();
  ASSERT_EQ(patches.size(), 2U);
  EXPECT_EQ(patches[0].range, (ByteRange{model_->catalog().tensors()[a].data.begin + 500,
                                         model_->catalog().tensors()[a].data.begin + 502}));
  EXPECT_EQ(patches[0].content.text(), "xx");
  EXPECT_EQ(patches[1].content.text(), "cccc");
}

TEST_F(LiveModelTest, ExternalTensorsChangeTheirDataFileOnly) {
  folder_.write("w.bin", "0123456789");
  const auto at = [](std::string_view name, std::string offset, std::string_view location = "w.bin") {
    return external(tensor(name, type::uint8, {3}),
                    {{"location", std::string(location)}, {"offset", std::move(offset)}});
  };
  open(model(graph({at("a", "1"), at("b", "6"), at("tied", "1", "./w.bin")})));
  edit("initializers/a").payload = Rope::of("abc");
  edit("initializers/tied").payload = Rope::of("abc");
  EXPECT_EQ(text(), Rope::of(model_->file()).text());
  EXPECT_TRUE(model_patches(*model_, edits())->empty());
  EXPECT_EQ(live_data_file(*model_, 0, edits()).text(), "0abc456789");
  EXPECT_EQ(data_file_patches(*model_, 0, edits()).size(), 1U);
  EXPECT_EQ(live_data_file(*model_, 0, {}).text(), "0123456789");
}

TEST_F(LiveModelTest, TensorsThatShareSomeBytesCannotBothBeEditedThere) {
  folder_.write("w.bin", "0123456789");
  const auto at = [](std::string_view name, std::string offset) {
    return external(tensor(name, type::uint8, {4}), {{"location", "w.bin"}, {"offset", std::move(offset)}});
  };
  open(model(graph({at("a", "0"), at("b", "2")})));
  edit("initializers/a").payload = Rope::of("aaaa");
  edit("initializers/b").payload = Rope::of("bbbb");
  EXPECT_ERROR(data_file_patches(*model_, 0, edits()), EINVAL, "overlap at offset 2");
}

TEST_F(LiveModelTest, RelocationChangesTheLocationAndDropsWhatIsSaidOfTheOldFile) {
  folder_.write("w.bin", "0123456789");
  folder_.write("other.bin", "0123456789");
  const Message w = tensor("w", type::uint8, {3}), o = tensor("o", type::uint8, {3});
  open(model(graph(
      {external(w, {{"checksum", "12"}, {"offset", "4"}, {"location", "w.bin"}, {"length", "3"}, {"prepacked_0", "x"}}),
       external(o, {{"location", "other.bin"}})})));
  const Rope live = live_model(*model_, {}, {{0, "model.onnx.data"}});
  EXPECT_EQ(live.text(), model(graph({external(w, {{"location", "model.onnx.data"}, {"offset", "4"}, {"length", "3"}}),
                                      external(o, {{"location", "other.bin"}})}))
                             .str());
}

TEST_F(LiveModelTest, FileOfADelayedInitializerCannotGetANewName) {
  folder_.write("w.bin", "0123456789");
  const auto text_attribute = [](std::string_view name, std::string_view value) {
    return attribute(name, 3).bytes(4, value);
  };
  open(model(testing::graph_of(
      {testing::with(testing::node("DelayedInitializer", {}, {"d"}).bytes(7, "ai.rt"),
                     {attribute("shape", 7).varint(8, 3), attribute("dtype", 2).varint(3, type::uint8),
                      text_attribute("load_device", "file"), text_attribute("runtime_device", "cpu"),
                      text_attribute("filename", "w.bin"), attribute("offset", 2).varint(3, 0)})})));
  ASSERT_EQ(model_->problem(0), "");
  EXPECT_ERROR(live_model(*model_, {}, {{0, "new.bin"}}), EINVAL, "a node names the data file \"w.bin\"");
}

// A tensor whose external data are the bytes of another's raw_data, in the model's own file.
Message self_external(uint64_t offset) {
  return model(graph({tensor("raw", type::uint8, {3}).bytes(9, "abc"),
                      external(tensor("own", type::uint8, {3}),
                               {{"location", "model.onnx"}, {"offset", fmt::format("{:04}", offset)}})}));
}

TEST_F(LiveModelTest, TensorInTheModelFileItselfIsEditedThere) {
  const uint64_t at = self_external(0).str().find("abc");
  open(self_external(at));
  edit("initializers/own").payload = Rope::of("xyz");
  std::string expected = self_external(at).str();
  expected.replace(at, 3, "xyz");
  EXPECT_EQ(text(), expected);
  EXPECT_EQ(live_data_file(*model_, 0, edits()).text(), expected);
}

TEST_F(LiveModelTest, NothingMovesATensorInTheModelFileItself) {
  open(self_external(self_external(0).str().find("abc")));
  edit("initializers/raw").doc_string = "longer";
  EXPECT_ERROR(text(), EINVAL, "tensor \"own\" at a fixed offset in itself");
}

TEST_F(LiveModelTest, FilesOfManyTensorsAreQuick) {
  Message g;
  for (int i = 0; i < 50'000; ++i)
    g.message(5, tensor(fmt::format("t{}", i), type::int32, {2}).packed(5, {1, 2}).bytes(12, "documented"));
  open(model(g));
  Edits many;
  for (uint32_t i = 0; i < 50'000; i += 10) {
    TensorEdit edit;
    edit.payload = Rope::of("12345678");
    many.emplace(i, std::make_shared<const TensorEdit>(edit));
  }
  const auto begin = std::chrono::steady_clock::now();
  const Rope live = live_model(*model_, many);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_GT(live.size(), model_->file()->size());
}

}  // namespace
}  // namespace onnxfs
