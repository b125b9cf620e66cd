// Which tensors go to data files, where they stand there, and what the model says then.
#include "core/views/export_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/edits.h"
#include "tests/unit/errors.h"
#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::attribute;
using testing::entry;
using testing::external;
using testing::graph;
using testing::graph_of;
using testing::Message;
using testing::model;
using testing::tensor;
using testing::with;
namespace type = testing::type;
namespace attribute_type = testing::attribute_type;

Message raw(std::string_view name, int64_t size, int32_t data_type = type::int8, int64_t width = 1) {
  return tensor(name, data_type, {size / width})
      .bytes(9, std::string(static_cast<size_t>(size), name.empty() ? 'x' : name[0]));
}

// What stands in place of data that went to a data file.
Message moved(Message message, std::string_view location, uint64_t offset, uint64_t length) {
  message.message(13, entry("location", location)).message(13, entry("offset", fmt::to_string(offset)));
  return message.message(13, entry("length", fmt::to_string(length))).varint(14, 1);
}

class ExportPlanTest : public ::testing::Test {
 protected:
  void open(const Message& message) {
    model_ = testing::open_model(folder_, message);
    places_ = testing::places(*model_);
  }

  ExportPlan plan(const ExportOptions& options = {}) const {
    return plan_export(*model_, edits_, options, [](uint32_t) { return "d"; });
  }
  std::string text(const ExportOptions& options = {}) const {
    return exported_model(*model_, edits_, plan(options)).text();
  }

  // The paths of the tensors that go out.
  std::set<std::string> out(const ExportOptions& options = {}) const {
    const ExportPlan planned = plan(options);
    std::set<std::string> paths;
    for (const auto& [path, tensor] : places_) {
      const auto move = planned.moves.find(tensor);
      if (move != planned.moves.end() && !move->second.location.empty()) paths.insert(path);
    }
    EXPECT_EQ(paths.size(), planned.moved_tensors);
    return paths;
  }
  using Paths = std::set<std::string>;

  void edit(const std::string& path, const std::string& payload) {
    TensorEdit edit;
    edit.payload = Rope::of(payload);
    edits_[places_.at(path)] = std::make_shared<const TensorEdit>(edit);
  }
  void annotate(const std::string& path, const std::vector<int64_t>& dims, const std::string& doc) {
    TensorEdit edit = *edits_.at(places_.at(path));
    edit.dims = dims;
    edit.doc_string = doc;
    edits_[places_.at(path)] = std::make_shared<const TensorEdit>(edit);
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
  std::map<std::string, uint32_t> places_;
  Edits edits_;
};

TEST_F(ExportPlanTest, TheThresholdCountsBytes) {
  open(model(graph({raw("a", 1023), raw("b", 1024), raw("c", 2000), raw("f", 1020, type::float32, 4)})));
  EXPECT_EQ(out(), (Paths{"initializers/b", "initializers/c"}));
  EXPECT_EQ(out({.size_threshold = 1025}), Paths{"initializers/c"});
  EXPECT_EQ(out({.size_threshold = 2000}), Paths{"initializers/c"});
  EXPECT_EQ(out({.size_threshold = 2001}), Paths{});
}

TEST_F(ExportPlanTest, WhatShapeInferenceReadsStaysWhateverTheThreshold) {
  open(model(graph({raw("i", 1016, type::int64, 8), raw("j", 1024, type::int64, 8), raw("b", 900, type::boolean),
                    raw("f", 124, type::float32, 4), raw("g", 128, type::float32, 4),
                    tensor("h", type::int4, {1200}).bytes(9, std::string(600, 'h')), tensor("e", type::float32, {0}),
                    tensor("u", 99, {300}).bytes(9, std::string(1200, 'u')),
                    tensor("s", type::string, {1}).bytes(6, std::string(5000, 's'))})));
  EXPECT_EQ(out({.size_threshold = 0}), (Paths{"initializers/g", "initializers/h", "initializers/j"}));
}

// Tensors in all places that a model has for them.
Message everywhere() {
  const auto held = [](std::string_view name) {
    return attribute(name, attribute_type::tensor).message(5, raw("", 2000));
  };
  const auto nested = [&] {
    return graph_of({with(testing::node("Constant", {}, {"c"}, "c"), {held("value")})}).message(5, raw("w", 2000));
  };
  const auto body = [&](std::string_view name) { return attribute(name, attribute_type::graph).message(6, nested()); };
  const Message values = Message().message(1, raw("s", 2000)).message(2, raw("", 1600, type::int64, 8)).varint(3, 9000);
  Message main = graph({raw("w", 2000)});
  main.message(1, with(testing::node("Constant", {}, {"c"}, "c"), {held("value")}));
  main.message(1, with(testing::node("If", {}, {"i"}, "if"), {body("then_branch")}));
  main.message(15, values);
  Message function = Message().bytes(1, "f").bytes(10, "d");
  function.message(7, with(testing::node("Constant", {}, {"k"}, "k"), {held("value")}));
  function.message(7, with(testing::node("If", {}, {"j"}, "j"), {body("else_branch")}));
  function.message(11, held("alpha"));
  return model(main).message(25, function).message(20, Message().message(1, nested()));
}

TEST_F(ExportPlanTest, GoesWhereReadersOfExternalDataLook) {
  open(everywhere());
  EXPECT_EQ(places_.size(), 12U);
  const Paths initializers{"initializers/w", "subgraphs/if/then_branch/initializers/w"};
  EXPECT_EQ(out(), initializers);
  Paths with_attributes = initializers;
  with_attributes.insert("attributes/c/value");
  with_attributes.insert("functions/d.f/attributes/k/value");
  with_attributes.insert("subgraphs/if/then_branch/attributes/c/value");
  EXPECT_EQ(out({.attributes = true}), with_attributes);
  EXPECT_EQ(out({.all_in_model = true, .attributes = true}), Paths{});
  EXPECT_TRUE(plan({.all_in_model = true}).moves.empty());
}

TEST_F(ExportPlanTest, WhatWasExternalElsewhereStaysSo) {
  folder_.write("w.bin", std::string(4000, 'w'));
  const Message outside = external(tensor("s", type::int8, {10}), {{"location", "w.bin"}, {"offset", "5"}});
  const Message sparse = Message().message(1, outside).message(2, raw("", 80, type::int64, 8)).varint(3, 100);
  const Message small = external(tensor("small", type::int8, {10}), {{"location", "w.bin"}});
  const Message empty = external(tensor("empty", type::int8, {0}), {{"location", "w.bin"}});
  open(model(graph({small, empty}).message(15, sparse)));
  EXPECT_EQ(out(), Paths{"sparse_initializers/s/values"});
  const Message values = moved(tensor("s", type::int8, {10}), "d", 0, 10);
  EXPECT_EQ(
      text(),
      model(graph({tensor("small", type::int8, {10}).bytes(9, std::string(10, 'w')), tensor("empty", type::int8, {0})})
                .message(15, Message().message(1, values).message(2, raw("", 80, type::int64, 8)).varint(3, 100)))
          .str());
}

TEST_F(ExportPlanTest, FilesAreInFileOrderWithAlignedOffsetsAndZerosBetween) {
  const int64_t large = (1 << 20) + 1;
  open(model(graph({raw("a", 5000), raw("b", 1200), raw("c", large), raw("d", 1 << 20), raw("e", 1024)})));
  const auto offsets = [](const ExportPlan& planned) {
    std::vector<uint64_t> result;
    for (const auto& [tensor, move] : planned.moves) result.push_back(move.offset);
    return result;
  };
  const ExportPlan planned = plan();
  const std::vector<uint64_t> expected{0, 8192, 65536, 1'118'208, 2'166'784};
  EXPECT_EQ(offsets(planned), expected);
  ASSERT_EQ(planned.data_files.size(), 1U);
  const std::string content = planned.data_files[0].content.text();
  ASSERT_EQ(content.size(), expected.back() + 1024);
  EXPECT_EQ(content.substr(0, 5000), std::string(5000, 'a'));
  EXPECT_EQ(content.substr(5000, 3192), std::string(3192, '\0'));
  EXPECT_EQ(content.substr(8192, 1200), std::string(1200, 'b'));
  EXPECT_EQ(content.substr(9392, 65536 - 9392), std::string(65536 - 9392, '\0'));
  EXPECT_EQ(content.substr(65536, large), std::string(large, 'c'));
  EXPECT_EQ(offsets(plan({.alignment = 4096})), (std::vector<uint64_t>{0, 8192, 12288, 1'064'960, 2'113'536}));
  EXPECT_EQ(offsets(plan({.alignment = 65536})), (std::vector<uint64_t>{0, 65536, 131072, 1'245'184, 2'293'760}));
}

TEST_F(ExportPlanTest, EachLocationIsAFile) {
  open(model(graph({raw("a", 2000), raw("b", 2000), raw("c", 2000)})));
  const ExportPlan planned =
      plan_export(*model_, {}, {}, [](uint32_t tensor) { return tensor == 1 ? "one" : "other"; });
  ASSERT_EQ(planned.data_files.size(), 2U);
  EXPECT_EQ(planned.data_files[0].location, "other");
  EXPECT_EQ(planned.data_files[0].content.size(), 4096U + 2000);
  EXPECT_EQ(planned.data_files[1].content.text(), std::string(2000, 'b'));
}

TEST_F(ExportPlanTest, DataMakeWayInTheirPlaceAndAllElseStays) {
  const std::string bytes(2000, 'r');
  Message odd = Message().varint(1000, 7).varint(1, 2000).varint(14, 0).varint(2, type::int8);
  odd.message(13, entry("location", "stale")).bytes(9, bytes).bytes(8, "r").bytes(4, "").varint(14, 7).fixed64(9, 1);
  Message typed = tensor("t", type::float32, {300}).bytes(4, std::string(600, 't')).bytes(12, "doc");
  typed.bytes(4, std::string(600, 't')).bytes(16, "");
  open(model(graph({odd, typed}).bytes(1000, "unknown")).bytes(1000, "unknown"));
  Message new_odd = moved(Message().varint(1000, 7).varint(1, 2000), "d", 0, 2000);
  new_odd.varint(2, type::int8).bytes(8, "r").varint(14, 7).fixed64(9, 1);
  const Message new_typed = moved(tensor("t", type::float32, {300}), "d", 4096, 1200).bytes(12, "doc").bytes(16, "");
  EXPECT_EQ(text(), model(graph({new_odd, new_typed}).bytes(1000, "unknown")).bytes(1000, "unknown").str());
}

TEST_F(ExportPlanTest, InlineWritesRawData) {
  folder_.write("w.bin", "headwwwwwwww");
  const Message w = external(tensor("w", type::int8, {8}).bytes(12, "doc"),
                             {{"location", "w.bin"}, {"offset", "4"}, {"checksum", "0"}});
  open(model(graph({w, raw("r", 8)})));
  EXPECT_EQ(text({.all_in_model = true}),
            model(graph({tensor("w", type::int8, {8}).bytes(12, "doc").bytes(9, "wwwwwwww"), raw("r", 8)})).str());
  EXPECT_TRUE(plan({.all_in_model = true}).data_files.empty());
}

TEST_F(ExportPlanTest, TensorsThatShareBytesGoOnSharingThem) {
  folder_.write("w.bin", std::string(4000, 'w'));
  const auto at = [](std::string_view name, std::string_view offset) {
    return external(tensor(name, type::int8, {2000}), {{"location", "w.bin"}, {"offset", std::string(offset)}});
  };
  open(model(graph({at("a", "0"), at("b", "2000"), at("tied", "0"), at("overlapping", "1000")})));
  const ExportPlan planned = plan();
  EXPECT_EQ(planned.moves.at(2).offset, planned.moves.at(0).offset);
  EXPECT_EQ(planned.moves.at(3).offset, 8192U);
  EXPECT_EQ(planned.data_files[0].content.size(), 8192U + 2000);
  EXPECT_EQ(planned.moved_tensors, 4U);
  // An edit is in the list of the first of them, at least.
  edit("initializers/a", std::string(2000, 'e'));
  EXPECT_EQ(plan().data_files[0].content.text().substr(0, 2000), std::string(2000, 'e'));
  EXPECT_EQ(plan({.all_in_model = true}).moves.at(2).payload.text(), std::string(2000, 'e'));
}

TEST_F(ExportPlanTest, HasTheEdits) {
  open(model(graph({raw("a", 2000), raw("b", 8)})));
  edit("initializers/a", std::string(2000, 'e'));
  annotate("initializers/a", {2, 1000}, "doc");
  edit("initializers/b", "edited!!");
  EXPECT_EQ(text(),
            model(graph({moved(Message().varint(1, 2).varint(1, 1000).varint(2, type::int8).bytes(8, "a"), "d", 0, 2000)
                             .bytes(12, "doc"),
                         tensor("b", type::int8, {8}).bytes(9, "edited!!")}))
                .str());
  EXPECT_EQ(plan().data_files[0].content.text(), std::string(2000, 'e'));
  edit("initializers/a", "short");
  EXPECT_ERROR(plan(), EINVAL, "\"a\" has 2000 bytes");
}

TEST_F(ExportPlanTest, ABrokenTensorIsRefused) {
  open(model(graph({raw("a", 2000), tensor("b", type::float32, {3}).bytes(9, "short")})));
  EXPECT_ERROR(plan(), EIO, "tensor \"b\" of ");
  EXPECT_ERROR(plan(), EIO, "raw_data has 5 bytes");
  open(model(graph({tensor("long", type::int64, {5000}).packed(7, std::vector<uint64_t>(4000, 1))})));
  EXPECT_ERROR(plan(), EIO, "long");
}

TEST_F(ExportPlanTest, StrayBitsAreWhatTheMountShows) {
  open(model(graph({tensor("q", type::int4, {4001}).packed(5, std::vector<uint64_t>(2001, 0xff))})));
  const std::string content = plan().data_files[0].content.text();
  EXPECT_TRUE(content == std::string(2001, '\xff'));
}

}  // namespace
}  // namespace onnxfs
