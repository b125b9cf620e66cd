// Models written anew in other arrangements: what comes of it, and of what goes wrong.
#include "core/sidecar/export.h"

#include <gtest/gtest.h>

#include "core/views/safetensors.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/random_model.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::external;
using testing::FaultyDisk;
using testing::graph;
using testing::Message;
using testing::states;
using testing::tensor;
using testing::TensorState;
namespace type = testing::type;

using ExportTest = testing::ExportFixture;

TEST_F(ExportTest, HasTheEditsAndLeavesTheModel) {
  edit_all();
  const auto expected = edited_states();
  const std::string before = contents(path_);
  const ExportReport report = run(out());
  EXPECT_EQ(report.output, out());
  EXPECT_EQ(report.output_bytes, files::file_size(out()));
  EXPECT_EQ(report.data_files, std::vector<std::string>{folder_ / "out/d"});
  EXPECT_EQ(report.data_bytes, files::file_size(folder_ / "out/d"));
  EXPECT_EQ(report.moved_tensors, 1U);
  testing::expect_states(out(), expected);
  EXPECT_EQ(files_in(folder_ / "out"), (std::vector<std::string>{"d", "new.onnx"}));
  EXPECT_TRUE(contents(path_) == before);
  EXPECT_EQ(edited_states(), expected);
  EXPECT_EQ(files_in(folder_ / "m"), (std::vector<std::string>{"model.onnx", "sub/v.bin", "w.bin"}));

  run(folder_ / "out/inline.onnx", {.all_in_model = true});
  testing::expect_states(folder_ / "out/inline.onnx", expected);
  EXPECT_EQ(files_in(folder_ / "out").size(), 3U);
}

TEST_F(ExportTest, NewFilesHaveTheModesOfTheModel) {
  files::permissions(path_, files::perms(0640));
  run(out());
  EXPECT_EQ(status(out()).st_mode & 0777, 0640U);
  EXPECT_EQ(status(folder_ / "out/d").st_mode & 0777, 0640U);
}

TEST_F(ExportTest, NothingIsEverReplaced) {
  for (const char* name : {"out/new.onnx", "out/d"}) {
    folder_.write(name, "precious");
    EXPECT_ERROR(run(out()), EEXIST, folder_ / name);
    EXPECT_EQ(contents(folder_ / name), "precious");
    EXPECT_EQ(files_in(folder_ / "out").size(), 1U);
    files::remove(folder_ / name);
  }
  EXPECT_ERROR(run(path_), EEXIST, path_);
  EXPECT_ERROR(run(folder_ / "m/new.onnx", {}, "w.bin"), EEXIST, "w.bin");
  EXPECT_ERROR(run(folder_ / "none/new.onnx"), ENOENT, folder_ / "none");
  EXPECT_ERROR(run(out(), {}, "none/d"), ENOENT, "none");
}

TEST_F(ExportTest, LocationsAreThoseThatAllReadersTake) {
  folder_.folder("out/sub");
  for (const char* location :
       {"/abs", "../d", "sub/../../d", "a..b", "#d", "*d", "a b", "a\\b", "é", "sub/", "", "a\nb"})
    EXPECT_ERROR(run(out(), {}, location), EINVAL, "cannot be a data file's name");
  EXPECT_ERROR(run(out(), {}, "new.onnx"), EINVAL, "both the model and its data file");
  EXPECT_TRUE(files_in(folder_ / "out").empty());
  run(out(), {}, "sub/d");
  EXPECT_EQ(files_in(folder_ / "out"), (std::vector<std::string>{"new.onnx", "sub/d"}));
  testing::expect_states(out(), states(*Model::open(path_)));
}

TEST_F(ExportTest, WhatNoReaderTakesIsRefusedBeforeAnythingIsWritten) {
  const uint64_t size = uint64_t{1} << 31;
  folder_.write("m/huge.bin", "");
  files::resize_file(folder_ / "m/huge.bin", size);
  folder_.write("m/model.onnx",
                testing::model(graph({external(tensor("huge", type::uint8, {static_cast<int64_t>(size)}),
                                               {{"location", "huge.bin"}})}))
                    .str());
  EXPECT_ERROR(run(out(), {.all_in_model = true}), EFBIG, "use --external");
  EXPECT_ERROR(run(out(), {.size_threshold = 2 * size}), EFBIG, "--attributes");
  EXPECT_ERROR(run(out(), {.size_threshold = 2 * size, .attributes = true}), EFBIG, "--size-threshold");
  EXPECT_TRUE(files_in(folder_ / "out").empty());
}

TEST_F(ExportTest, OnlyModelsHaveDataFiles) {
  const std::string path = folder_.write("values.pb", testing::scalar("v").str());
  const auto values = Model::open(path);
  EXPECT_ERROR(export_model(
                   *values, {}, out(), {}, [](uint32_t) { return "d"; }, {}, disk_),
               EINVAL, "--safetensors");
  export_safetensors(
      values, {}, [](uint32_t) { return "values/v"; }, out(), {}, disk_);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "\"values/v\"", contents(out()));
}

TEST_F(ExportTest, SafetensorsAreWrittenLikewise) {
  edit_all();
  const auto model = Model::open(path_);
  const Edits edits = Sidecar::open(model, sidecar_folder(), "a test")->edits().snapshot();
  const PathOf path_of = [](uint32_t tensor) { return fmt::to_string(tensor); };
  const ExportReport report = export_safetensors(model, edits, path_of, out(), {}, disk_);
  EXPECT_TRUE(contents(out()) == safetensors(model, edits, path_of).text());
  EXPECT_EQ(report.output_bytes, files::file_size(out()));
  EXPECT_ERROR(export_safetensors(model, edits, path_of, out(), {}, disk_), EEXIST, out());
  folder_.write("m/model.onnx", testing::model(graph({tensor("b", type::uint8, {3}).bytes(9, "12")})).str());
  EXPECT_ERROR(export_safetensors(Model::open(path_), {}, path_of, folder_ / "out/b", {}, disk_), EIO, "\"b\"");
  EXPECT_EQ(files_in(folder_ / "out"), std::vector<std::string>{"new.onnx"});
}

TEST_F(ExportTest, ANodeThatNamesAFileGoesNoFurtherThanThat) {
  const auto name = [](std::string_view key, uint64_t kind) { return testing::attribute(key, kind); };
  const Message delayed =
      testing::with(testing::node("DelayedInitializer", {}, {"late"}).bytes(7, "ai.rt"),
                    {name("shape", 7).varint(8, 8), name("dtype", 2).varint(3, 2),
                     name("load_device", 3).bytes(4, "cpu"), name("runtime_device", 3).bytes(4, "cpu"),
                     name("filename", 3).bytes(4, "w.bin"), name("offset", 2).varint(3, 4)});
  folder_.write("m/model.onnx", testing::model(testing::graph_of({delayed})).str());
  EXPECT_ERROR(run(out()), EINVAL, "names the file \"w.bin\"");
  run(folder_ / "m/new.onnx");
  testing::expect_states(folder_ / "m/new.onnx", states(*Model::open(path_)));
}

TEST_F(ExportTest, StoppedItLeavesNothing) {
  for (const uint64_t calls : {0, 1, 2}) {
    uint64_t call = 0;
    const auto stop = [&](uint64_t done, uint64_t total) {
      EXPECT_LE(done, total);
      if (call++ == calls) throw Error(EINTR, "stopped");
    };
    EXPECT_ERROR(run(out(), {}, "d", nullptr, stop), EINTR, "stopped");
    EXPECT_TRUE(files_in(folder_ / "out").empty());
  }
}

TEST_F(ExportTest, RemainsOfAKilledOneAreCleared) {
  folder_.write("out/.new.onnx.onnxfs-commit", "remains");
  folder_.write("out/.d.onnxfs-commit", "remains");
  run(out());
  EXPECT_EQ(files_in(folder_ / "out"), (std::vector<std::string>{"d", "new.onnx"}));
}

TEST_F(ExportTest, StrayBitsBehindTheLastElementStay) {
  const std::vector<uint64_t> entries(1025, 0xff);
  folder_.write("m/model.onnx",
                testing::model(graph({tensor("typed", type::int4, {2049}).packed(5, entries),
                                      tensor("raw", type::int4, {2049}).bytes(9, std::string(1025, '\xff'))}))
                    .str());
  const std::vector<TensorState> before = states(*Model::open(path_));
  ASSERT_EQ(before[0].payload, std::string(1025, '\xff'));
  run(out());
  EXPECT_EQ(status(folder_ / "out/d").st_size, 4096 + 1025);
  testing::expect_states(out(), before);
  run(folder_ / "out/inline.onnx", {.all_in_model = true});
  testing::expect_states(folder_ / "out/inline.onnx", before);
  path_ = out();
  run(folder_ / "out/back.onnx", {.all_in_model = true});
  testing::expect_states(folder_ / "out/back.onnx", before);
}

class ExportRandomTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  std::string run(const std::string& from, const std::string& name, const Edits& edits, const ExportOptions& options) {
    folder_.folder(name);
    export_model(
        *Model::open(from), edits, folder_ / name + "/m.onnx", options, [](uint32_t) { return "d"; }, {}, disk_);
    return folder_ / name + "/m.onnx";
  }

  testing::TemporaryFolder folder_;
  FaultyDisk disk_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, ExportRandomTest, ::testing::Range<uint64_t>(0, 60));

std::vector<TensorState> without_padding(const Model& model, std::vector<TensorState> list) {
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].payload = testing::with_zero_padding(model.catalog().tensors()[i], list[i].payload);
  }
  return list;
}

TEST_P(ExportRandomTest, OutAndBackAreTheSameTensors) {
  testing::RandomModel random(GetParam());
  const std::string text = random.model().str();
  folder_.write("w.bin", random.data());
  const std::string path = folder_.write("m.onnx", text);
  const auto model = Model::open(path);
  testing::RandomEdits edits(*model, GetParam());
  edits.edit_some(3);
  const auto expected = without_padding(*model, edits.expected());
  const ExportOptions options{.size_threshold = GetParam() % 3 * 100, .attributes = GetParam() % 2 == 0};

  const std::string out = run(path, "out", edits.edits(), options);
  const std::string back = run(out, "back", {}, {.all_in_model = true});
  const std::string again = run(back, "again", {}, options);
  const std::string unmoved = run(out, "unmoved", {}, options);
  for (const std::string& written : {out, back, again}) {
    const auto found = Model::open(written);
    ASSERT_EQ(without_padding(*found, states(*found)), expected) << written;
  }
  // All but an edit, which is written as a commit does, is the same to the last bit.
  const std::string unedited = run(path, "unedited", {}, options);
  EXPECT_EQ(states(*Model::open(unedited)), states(*model));
  EXPECT_EQ(states(*Model::open(back)), states(*Model::open(out)));
  // What is arranged so already comes out byte for byte.
  EXPECT_TRUE(contents(unmoved) == contents(out));
  ASSERT_EQ(files::exists(folder_ / "unmoved/d"), files::exists(folder_ / "out/d"));
  if (files::exists(folder_ / "out/d")) {
    EXPECT_TRUE(contents(folder_ / "unmoved/d") == contents(folder_ / "out/d"));
  }
  const auto whole = Model::open(back);
  for (const Tensor& tensor : whole->catalog().tensors()) EXPECT_NE(tensor.storage, Storage::external);
}

}  // namespace
}  // namespace onnxfs
