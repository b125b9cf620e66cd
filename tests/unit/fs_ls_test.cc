// Listing the tensors of a model.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fs/byte_size.h"
#include "fs/commands.h"
#include "fs/tensor_totals.h"
#include "fs/text_table.h"
#include "tests/unit/command_output.h"
#include "tests/unit/commit_fixture.h"

namespace onnxfs {
namespace {

using testing::output_of;

class LsTest : public testing::CommitTest {
 protected:
  std::string ls(std::vector<std::string> arguments = {}, int expected = 0) const {
    arguments.insert(arguments.begin(), path_);
    return output_of(ls_command, arguments, expected);
  }

  nlohmann::json ls_json(std::vector<std::string> arguments = {}) const {
    arguments.push_back("--json");
    return nlohmann::json::parse(ls(arguments));
  }

  void write_tensors(const std::vector<testing::Message>& tensors) {
    folder_.write("m/model.onnx", testing::model(testing::graph(tensors)).str());
  }
};

TEST_F(LsTest, ShowsATensorALineAndWhatTheyAmountTo) {
  EXPECT_EQ(ls(),
            "path                dtype   shape         size  storage\n"
            "initializers/large  uint8   [300000]  300.0 kB  raw_data\n"
            "initializers/raw    uint8   [8]            8 B  raw_data\n"
            "initializers/ints   int64   [2]           16 B  int64_data\n"
            "initializers/text   string  [2]           14 B  string_data\n"
            "initializers/w      uint8   [8]            8 B  external\n"
            "initializers/tied   uint8   [8]            8 B  external\n"
            "initializers/v      uint8   [8]            8 B  external\n"
            "\n"
            "7 tensors, 300.1 kB\n"
            "  uint8   5 tensors  300.0 kB\n"
            "  int64    1 tensor      16 B\n"
            "  string   1 tensor      14 B\n");
}

TEST_F(LsTest, ShowsWhatPatternsName) {
  EXPECT_EQ(ls({"*/w", "initializers/v.bin"}),
            "path            dtype  shape  size  storage\n"
            "initializers/w  uint8  [8]     8 B  external\n"
            "initializers/v  uint8  [8]     8 B  external\n"
            "\n"
            "2 tensors, 16 B\n"
            "  uint8  2 tensors  16 B\n");
  EXPECT_ERROR(ls({"none*"}), ENOENT, "none*");
}

TEST_F(LsTest, ALongListSaysWhereTheBytesStand) {
  const std::string text = ls({"--long"});
  const auto at = testing::contents(path_).find("rrrrrrrr");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, fmt::format("raw_data     model.onnx+{}\n", at), text);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "300000  raw_data", text);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "external     sub/v.bin+0\n", text);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "int64_data   -\n", text);
}

TEST_F(LsTest, SortsBySizeAndByPathWithNumbersByTheirValue) {
  EXPECT_EQ(ls({"--paths", "*"}),
            "initializers/large\ninitializers/raw\ninitializers/ints\ninitializers/text\ninitializers/w\n"
            "initializers/tied\ninitializers/v\n");
  const auto paths = [](const nlohmann::json& list) {
    std::vector<std::string> result;
    for (const auto& tensor : list["tensors"]) result.push_back(tensor["path"].get<std::string>().substr(13));
    return result;
  };
  using Paths = std::vector<std::string>;
  EXPECT_EQ(paths(ls_json({"--sort", "size"})), (Paths{"large", "ints", "text", "raw", "w", "tied", "v"}));
  write_tensors({testing::scalar("layer.10.w"), testing::scalar("layer.9.w"), testing::scalar("a")});
  EXPECT_EQ(paths(ls_json({"--sort", "path"})), (Paths{"a", "layer.9.w", "layer.10.w"}));
  EXPECT_EQ(paths(ls_json()), (Paths{"layer.10.w", "layer.9.w", "a"}));
}

TEST_F(LsTest, TotalsDrawTheSharesOfTypesAndLayers) {
  write_tensors({testing::tensor("layer.0.a", testing::type::uint8, {6}).bytes(9, "aaaaaa"),
                 testing::tensor("layer.0.b", testing::type::uint8, {6}).bytes(9, "bbbbbb"),
                 testing::tensor("layer.1.a", testing::type::int8, {4}).bytes(9, "cccc")});
  EXPECT_EQ(ls({"--totals"}),
            "3 tensors, 16 B\n\n"
            "dtype                 tensors  size  share\n"
            "uint8                       2  12 B  75.0%  ██████████████████████▌\n"
            "int8                        1   4 B  25.0%  ███████▌\n"
            "\n"
            "layer                 tensors  size  share\n"
            "initializers/layer.0        2  12 B  75.0%  ██████████████████████▌\n"
            "initializers/layer.1        1   4 B  25.0%  ███████▌\n");
}

TEST_F(LsTest, JsonHasAllOfIt) {
  write("w", 0, "W");
  annotate("raw", {2, 4}, "documented");
  const auto json = ls_json();
  EXPECT_EQ(json["model"], path_);
  ASSERT_EQ(json["tensors"].size(), 7U);
  const auto& raw = json["tensors"][1];
  EXPECT_EQ(raw["name"], "raw");
  EXPECT_EQ(raw["dtype"], "uint8");
  EXPECT_EQ(raw["shape"], (std::vector<int>{2, 4}));
  EXPECT_EQ(raw["nbytes"], 8);
  EXPECT_EQ(raw["storage"], "raw_data");
  EXPECT_EQ(raw["file"], "model.onnx");
  EXPECT_EQ(raw["length"], 8);
  EXPECT_EQ(raw["edited"], true);
  EXPECT_EQ(raw["bin"], "initializers/raw.bin");
  EXPECT_EQ(raw["changed"], (std::vector<std::string>{"shape", "doc_string"}));
  EXPECT_TRUE(raw["problem"].is_null());
  EXPECT_EQ(json["tensors"][4]["storage"], "sidecar");
  EXPECT_TRUE(json["tensors"][4]["file"].is_null());
  EXPECT_EQ(json["tensors"][6]["edited"], false);
  EXPECT_EQ(json["totals"]["tensors"], 7);
  EXPECT_EQ(json["totals"]["nbytes"], large + 5 * 8 + 6 + 8 + 8);
  EXPECT_EQ(json["totals"]["by_dtype"][0]["dtype"], "uint8");
  EXPECT_EQ(json["totals"]["by_layer"][0]["layer"], "initializers");
  EXPECT_FALSE(ls_json({"--totals"}).contains("tensors"));
}

TEST_F(LsTest, SaysWhatIsEditedAndBroken) {
  write("raw", 0, "R");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "sidecar  edited\n", ls({"*/raw"}));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "sidecar  -      edited: payload\n", ls({"*/raw", "--long"}));
  write_tensors({testing::tensor("b", testing::type::float32, {3}).bytes(9, "short")});
  std::filesystem::remove_all(sidecar_folder());
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "raw_data  broken\n\n1 tensor, 0 B; 1 broken, of no bytes in sums\n",
                      ls());
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "broken: raw_data has 5 bytes, float32[3] needs 12\n", ls({"-l"}));
  EXPECT_EQ(ls_json()["tensors"][0]["problem"], "raw_data has 5 bytes, float32[3] needs 12");
}

TEST_F(LsTest, NoControlCharacterReachesTheTerminal) {
  write_tensors({testing::scalar("a\x1b[31m\xff")});
  for (const auto* words : {"--long", "--paths", "--totals", "--json"}) {
    for (const char c : ls({words})) ASSERT_TRUE(c == '\n' || (c >= ' ' && c != '\x7f') || c < 0) << words;
  }
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "name: a%1B[31m%FF", ls({"--long"}));
}

TEST_F(LsTest, AModelWithoutTensorsHasNoTable) {
  write_tensors({});
  EXPECT_EQ(ls(), "0 tensors, 0 B\n");
  EXPECT_EQ(ls({"--paths"}), "");
  EXPECT_EQ(ls_json()["tensors"].size(), 0U);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "0 tensors, 0 B\n", ls({"--totals"}));
}

TEST_F(LsTest, HelpFitsAScreenAndWrongWordsAreRefused) {
  const std::string help = output_of(ls_command, {"--help"});
  EXPECT_LE(std::ranges::count(help, '\n'), 24) << help;
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "Example:", help);
  ::testing::internal::CaptureStderr();
  ls({"--sort", "colour"}, 2);
  ls({"--paths", "--json"}, 2);
  output_of(ls_command, {}, 2);
  EXPECT_EQ(std::ranges::count(::testing::internal::GetCapturedStderr(), '\n'), 3);
}

TEST(Layer, EndsAtTheFirstNumberOrBeforeTheLastPart) {
  EXPECT_EQ(layer_of("initializers/model.layers.0.self_attn.q_proj.weight"), "initializers/model.layers.0");
  EXPECT_EQ(layer_of("initializers/layer1.0.conv1.weight"), "initializers/layer1.0");
  EXPECT_EQ(layer_of("initializers/conv1.weight"), "initializers/conv1");
  EXPECT_EQ(layer_of("initializers/onnx::MatMul_636"), "initializers");
  EXPECT_EQ(layer_of("initializers/w.0"), "initializers/w");
  EXPECT_EQ(layer_of("initializers/a..b"), "initializers/a.");
  EXPECT_EQ(layer_of("attributes/layers.3/attn/Constant_1/value"), "attributes/layers.3");
  EXPECT_EQ(layer_of("values/0"), "values");
  EXPECT_EQ(layer_of("x"), "");
}

TEST(Totals, NeverWrap) {
  Totals totals;
  totals.add("a", UINT64_MAX - 1);
  totals.add("a", 2);
  totals.add("b", 7);
  EXPECT_EQ(totals.list()[0].nbytes, UINT64_MAX);
  EXPECT_EQ(totals.list()[0].tensors, 2U);
  EXPECT_EQ(totals.all().nbytes, UINT64_MAX);
}

TEST(ByteSize, IsInTheUnitThatLeavesFewDigits) {
  EXPECT_EQ(byte_size_text(0), "0 B");
  EXPECT_EQ(byte_size_text(999), "999 B");
  EXPECT_EQ(byte_size_text(1000), "1.0 kB");
  EXPECT_EQ(byte_size_text(14'112), "14.1 kB");
  EXPECT_EQ(byte_size_text(1'900'000'000), "1.9 GB");
  EXPECT_EQ(byte_size_text(7'000'000'000'000), "7.0 TB");
}

TEST(Bar, IsDrawnInEighths) {
  EXPECT_EQ(bar(0, 8, 4), "");
  EXPECT_EQ(bar(0, 0, 4), "");
  EXPECT_EQ(bar(1, 1'000'000, 4), "▏");
  EXPECT_EQ(bar(1, 2, 3), "█▌");
  EXPECT_EQ(bar(8, 8, 4), "████");
  EXPECT_EQ(bar(9, 8, 4), "████");
}

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  using Align = TextTable::Align;
  TextTable table({Align::left, Align::right, Align::left});
  const std::string wide(100, 'x');
  table.add({wide, "22", "z"});
  table.add({"abc", "1", "y"});
  EXPECT_EQ(table.text(), wide + "  22  z\nabc" + std::string(97, ' ') + "   1  y\n");
}

TEST(TextTable, PathsAreCutInTheMiddleOnATerminal) {
  using Align = TextTable::Align;
  TextTable table({Align::left, Align::right, Align::left});
  table.add({"initializers/é" + std::string(40, 'x') + ".weight", "22", "z"});
  table.add({"abc", "1", "a remark that is longer than what is left"});
  EXPECT_EQ(table.text(34),
            "initializ…xxxxxxxxxxxxx.weight  22  z\n"
            "abc" +
                std::string(27, ' ') + "   1  a remark that is longer than what is left\n");
  EXPECT_EQ(table.text(200), table.text());
}

TEST(TextTable, AVeryWideCellPushesItsOwnLineAlone) {
  using Align = TextTable::Align;
  TextTable table({Align::left, Align::right, Align::left});
  const std::string wide(1000, 'x');
  table.add({"é", "1", ""});
  table.add({wide, "22", "z"});
  table.add({"abc", "333"});
  EXPECT_EQ(table.text(), "é      1\n" + wide + "   22  z\nabc  333\n");
}

}  // namespace
}  // namespace onnxfs
