#include "core/onnx/scan.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using namespace std::string_literals;
using testing::caught;
using testing::Caught;
using testing::external;
using testing::graph;
using testing::guarded;
using testing::Message;
using testing::model;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

using Names = std::vector<std::string>;

class CatalogTest : public ::testing::Test {
 protected:
  Catalog scan(const std::string& bytes) { return scan_catalog(guarded(bytes), DataFiles(folder_.path(), ""), false); }
  Catalog scan(const Message& message) { return scan(message.str()); }

  static Names names(const Catalog& catalog) {
    Names result;
    for (const Tensor& tensor : catalog.tensors()) result.emplace_back(tensor.name);
    return result;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(CatalogTest, ListsInitializersInFileOrder) {
  const Message weights = tensor("weights", type::float32, {2, 3}).bytes(9, std::string(24, 'w'));
  const Message bytes = model(graph({weights, scalar("bias"), tensor("ids", type::int64, {0})}));
  const Catalog catalog = scan(bytes);
  ASSERT_EQ(names(catalog), (Names{"weights", "bias", "ids"}));
  const Tensor& first = catalog.tensors()[0];
  EXPECT_EQ(std::vector<int64_t>(first.dims.begin(), first.dims.end()), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(first.kind, Kind::initializer);
  EXPECT_FALSE(first.broken());
  EXPECT_EQ(bytes.str().substr(first.message.begin, first.message.size()), weights.str());
  EXPECT_EQ(bytes.str().substr(first.data.begin, first.data.size()), std::string(24, 'w'));
  EXPECT_TRUE(catalog.findings().empty());
  ASSERT_EQ(catalog.graphs().size(), 1u);
}

TEST_F(CatalogTest, GraphsInPartsAreOneGraph) {
  const Message second = Message().message(1, testing::node("Relu", {"x"}, {"y"})).message(5, scalar("c"));
  const Message message = Message()
                              .message(7, graph({scalar("a"), scalar("b")}))
                              .varint(1, 8)
                              .message(7, second)
                              .message(7, Message())
                              .message(7, graph({scalar("a")}));
  const Catalog catalog = scan(message);
  EXPECT_EQ(names(catalog), (Names{"a", "b", "c", "a"}));
  EXPECT_EQ(catalog.graphs().size(), 4u);
  EXPECT_EQ(catalog.counts().initializers, 4u);
  EXPECT_EQ(catalog.counts().nodes, 1u);
  ASSERT_EQ(catalog.findings().size(), 1u);
  EXPECT_EQ(catalog.findings()[0].tensor, 3u);
}

TEST_F(CatalogTest, CountsWhatIsThere) {
  Message parts = graph({scalar("a"), scalar("b")});
  for (int i = 0; i < 3; ++i) parts.message(1, testing::node("Relu", {"x"}, {"y"}));
  for (int i = 0; i < 4; ++i) parts.message(15, Message().message(1, scalar("s")));
  for (int i = 0; i < 5; ++i) parts.message(13, Message().bytes(1, "v"));
  parts.varint(1, 1).fixed32(5, 1);  // other wire types: unknown fields
  Message whole = model(parts);
  for (int i = 0; i < 6; ++i) whole.message(25, Message().bytes(1, "f"));
  for (int i = 0; i < 7; ++i) whole.message(20, Message());
  const Counts counts = scan(whole).counts();
  EXPECT_EQ(counts.initializers, 2u);
  EXPECT_EQ(counts.nodes, 3u);
  EXPECT_EQ(counts.sparse_initializers, 4u);
  EXPECT_EQ(counts.value_infos, 5u);
  EXPECT_EQ(counts.functions, 6u);
  EXPECT_EQ(counts.training_infos, 7u);
}

TEST_F(CatalogTest, NamesAreBytes) {
  const Names odd{"", "/a/b", "..", "a\nb", "a\0b"s, "\xff", std::string(100'000, 'x'), "é中"};
  std::vector<Message> tensors;
  for (const std::string& name : odd) tensors.push_back(scalar(name));
  EXPECT_EQ(names(scan(model(graph(tensors)))), odd);
}

TEST_F(CatalogTest, LaterTensorsOfOneNameAreRemarkedOn) {
  const Catalog catalog = scan(model(
      graph({scalar("a"), scalar("b"), scalar("a"), scalar(""), scalar("a"), scalar("A"), scalar("b"), scalar("")})));
  std::vector<uint32_t> repeated;
  for (const Finding& finding : catalog.findings()) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "the same name", finding.text);
    EXPECT_EQ(finding.offset, catalog.tensors()[finding.tensor].message.begin);
    EXPECT_FALSE(catalog.tensors()[finding.tensor].broken());
    repeated.push_back(finding.tensor);
  }
  EXPECT_EQ(repeated, (std::vector<uint32_t>{2, 4, 6, 7}));
}

TEST_F(CatalogTest, WhatIsWrongWithATensorIsAFinding) {
  const Catalog catalog = scan(model(graph({scalar("good"), tensor("short", type::float32, {3}).bytes(9, "1234"),
                                            scalar("odd").bytes(3, ""), tensor("none", type::int64, {1})})));
  ASSERT_EQ(catalog.findings().size(), 3u);
  EXPECT_EQ(catalog.findings()[0].tensor, 1u);
  EXPECT_EQ(catalog.findings()[0].text, "raw_data has 4 bytes, float32[3] needs 12");
  EXPECT_EQ(catalog.findings()[0].offset, catalog.tensors()[1].message.begin);
  EXPECT_EQ(catalog.findings()[1].tensor, 2u);
  EXPECT_EQ(catalog.findings()[2].tensor, 3u);
  EXPECT_EQ(catalog.tensors()[1].problem, 0u);
  EXPECT_EQ(catalog.tensors()[3].problem, 2u);
  EXPECT_FALSE(catalog.tensors()[0].broken());
  EXPECT_TRUE(catalog.tensors()[1].broken());
  EXPECT_FALSE(catalog.tensors()[2].broken());
  EXPECT_TRUE(catalog.tensors()[3].broken());
}

TEST_F(CatalogTest, OpensDataFilesOnce) {
  folder_.write("w.bin", std::string(8, 'w'));
  std::vector<Message> tensors;
  for (const char* location : {"w.bin", "none.bin", "./w.bin", "none.bin"}) {
    tensors.push_back(external(tensor(location, type::float32, {2}), {{"location", location}}));
  }
  const Catalog catalog = scan(model(graph(tensors)));
  ASSERT_EQ(catalog.data_files().size(), 2u);
  EXPECT_TRUE(catalog.data_files()[0].source);
  EXPECT_FALSE(catalog.data_files()[1].source);
  EXPECT_EQ(catalog.tensors()[2].data_file, 0u);
  EXPECT_EQ(catalog.tensors()[0].data, (ByteRange{0, 8}));
  EXPECT_TRUE(catalog.tensors()[3].broken());
}

TEST_F(CatalogTest, UnknownFieldsAreNoMatter) {
  Message parts = graph({scalar("a")});
  parts.bytes(1000, "\xff\xff").group(999, Message().bytes(5, "x")).message(5, scalar("b")).fixed64(3, 1);
  const Message message = Message().group(12, Message().varint(7, 1)).append(model(parts).str()).varint(1000, 5);
  EXPECT_EQ(names(scan(message)), (Names{"a", "b"}));
}

TEST_F(CatalogTest, SaysWhatIsNoModel) {
  EXPECT_ERROR(scan(""), EINVAL, "is empty");
  EXPECT_ERROR(scan(Message().varint(1, 8)), EINVAL, "has no graph");
  EXPECT_ERROR(scan(Message().varint(1, 8).varint(7, 1)), EINVAL, "has no graph");
  EXPECT_ERROR(scan(tensor("w", type::float32, {2}).bytes(9, "12345678")), EINVAL, "a single tensor (a TensorProto)");
  EXPECT_ERROR(scan(Message().bytes(1, "\x02\x03").varint(2, 1).packed(7, {1})), EINVAL, "a single tensor");
}

TEST_F(CatalogTest, ModelsMayHaveFunctionsOrTrainingAlone) {
  EXPECT_EQ(scan(Message().varint(1, 8).message(25, Message().bytes(1, "f"))).counts().functions, 1u);
  EXPECT_EQ(scan(Message().varint(1, 8).message(20, Message())).counts().training_infos, 1u);
  EXPECT_TRUE(scan(Message().message(7, Message())).tensors().empty());
}

TEST_F(CatalogTest, ModelCutAnywhereIsTruncatedThere) {
  const Message whole = model(graph({scalar("a"), tensor("b", type::int64, {3}).packed(7, {1, 300, 5})}));
  const size_t end_of_graph = whole.borders()[3];
  for (size_t cut = 1; cut < whole.size(); ++cut) {
    const Caught error = caught([&] { scan(whole.str().substr(0, cut)); });
    const bool at_border = std::ranges::count(whole.borders(), cut) != 0;
    if (cut == end_of_graph) {
      EXPECT_EQ(error.code, 0) << error.text;
    } else if (at_border) {
      EXPECT_EQ(error.code, EINVAL) << cut;
    } else {
      EXPECT_EQ(error.code, EBADMSG) << cut;
      EXPECT_TRUE(error.text.starts_with("truncated at offset " + std::to_string(cut) + ":")) << error.text;
    }
  }
}

TEST_F(CatalogTest, CorruptPartsOfTheGraphAreErrorsWithTheirOffsets) {
  const auto whole = [](const Message& initializer) {
    return Message().varint(1, 8).message(7, Message().message(5, initializer));
  };
  // The initializer begins at 6: two bytes of ir_version, and a tag and a length for each of graph and initializer.
  EXPECT_ERROR(scan(whole(Message().raw("\x08"))), EBADMSG, "truncated at offset 7");
  EXPECT_ERROR(scan(whole(Message().varint(1, 1).raw("\x0f"))), EBADMSG, "corrupt at offset 8: 7 is no wire type");
  EXPECT_ERROR(scan(whole(Message().varint(1, 1).bytes(4, "12345"))), EBADMSG, "corrupt at offset 8");
  EXPECT_ERROR(scan(Message().message(7, Message().raw("\x0c"))), EBADMSG, "corrupt at offset 2: a group ends");
}

TEST_F(CatalogTest, FileThatCannotBeReadIsThatError) {
  for (const int code : {EIO, ESTALE}) {
    const SourcePtr failing = std::make_shared<testing::FailingSource>(100, code);
    EXPECT_ERROR(scan_catalog(failing, DataFiles(folder_.path(), ""), false), code, "on fire");
  }
}

TEST_F(CatalogTest, OutlivesItsMoveAndTheFile) {
  std::unique_ptr<Catalog> moved;
  {
    Catalog catalog = scan(model(graph({tensor("a name of some length", type::float32, {1, 2}).bytes(9, "12345678")})));
    moved = std::make_unique<Catalog>(std::move(catalog));
  }
  EXPECT_EQ(moved->tensors()[0].name, "a name of some length");
  EXPECT_EQ(moved->tensors()[0].dims[1], 2);
}

}  // namespace
}  // namespace onnxfs
