#include "core/views/listing.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::external;
using testing::graph;
using testing::Message;
using testing::model;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

std::string path_of(uint32_t index) { return "folder/" + std::to_string(index); }

size_t lines(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

class ListingTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const std::vector<Message>& tensors, std::string_view name = "m.onnx") {
    return testing::open_model(folder_, model(graph(tensors)), name);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ListingTest, IndexHasARowATensor) {
  folder_.write("w.bin", "12345678");
  const auto model = open({
      tensor("a", type::float32, {2, 1}).bytes(9, "12345678"),
      scalar("b"),
      external(tensor("c", type::float32, {2}), {{"location", "w.bin"}}),
      tensor("d", type::string, {1}).bytes(6, "text"),
      tensor("e", 99, {1}).bytes(9, "1"),
      tensor("f", type::int64, {2}).packed(7, {1, 2}),
      tensor("g", type::int4, {0}),
      tensor("broken", type::float32, {-1}),
  });
  EXPECT_EQ(index_tsv(*model, path_of),
            "path\tdtype\tshape\tnbytes\tstorage\n"
            "folder/0.bin\tfloat32\t[2,1]\t8\traw_data\n"
            "folder/1.bin\tfloat32\t[]\t4\traw_data\n"
            "folder/2.bin\tfloat32\t[2]\t8\texternal\n"
            "folder/3.bin\tstring\t[1]\t8\tstring_data\n"
            "folder/4.bin\tnull\t[1]\t1\traw_data\n"
            "folder/5.bin\tint64\t[2]\t16\tint64_data\n"
            "folder/6.bin\tint4\t[0]\t0\tnone\n"
            "folder/7.bin\tfloat32\t[-1]\t0\tnone\n");
}

TEST_F(ListingTest, IndexOfNoTensorsIsItsHeader) {
  EXPECT_EQ(index_tsv(*open({}), path_of), "path\tdtype\tshape\tnbytes\tstorage\n");
}

TEST_F(ListingTest, NoProblemsAreNoText) { EXPECT_EQ(problems_txt(*open({scalar("a")}), path_of), ""); }

TEST_F(ListingTest, ProblemsAreALineEach) {
  const auto model = open({scalar("a"), tensor("b", type::float32, {3}).bytes(9, "1234").bytes(3, ""), scalar("a")});
  const auto& tensors = model->catalog().tensors();
  const auto at = [&tensors](uint32_t i) {
    return " (at offset " + std::to_string(tensors[i].message.begin) + " of m.onnx)\n";
  };
  EXPECT_EQ(problems_txt(*model, path_of),
            "folder/1: a segment field, which readers ignore" + at(1) +
                "folder/1: raw_data has 4 bytes, float32[3] needs 12" + at(1) +
                "folder/2: an earlier initializer has the same name; runtimes take the last of them" + at(2));
}

TEST_F(ListingTest, LateProblemsAreListedOnceKnown) {
  const auto model = open({tensor("w", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300))});
  EXPECT_EQ(problems_txt(*model, path_of), "");
  EXPECT_ERROR(model->payload(0), EIO, "");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "folder/0: int64_data has 5000 entries", problems_txt(*model, path_of));
}

// What is quoted from the file stays on its line and plain text, so that no file can forge a line.
TEST_F(ListingTest, LinesStayLinesWhateverTheFileQuotes) {
  const std::string forged = "x\nfolder/0: forged\r\x1b[31m\x7f";
  const auto model = open({
      external(tensor("a", type::float32, {1}), {{"location", forged}}),
      external(tensor("b", type::float32, {1}), {{"location", "/" + forged}}),
      external(tensor("c", type::float32, {1}), {{"location", "w"}, {"offset", forged}}),
      external(tensor("d", type::float32, {1}), {{"location", "w"}, {forged, "1"}}),
  });
  const std::string text = problems_txt(*model, path_of);
  EXPECT_EQ(lines(text), model->findings().size());
  for (const char c : text) EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
}

TEST_F(ListingTest, LinesStayLinesWhateverTheFilesName) {
  const auto model = open({tensor("a", type::float32, {1})}, "m\n0: forged.onnx");
  EXPECT_EQ(lines(problems_txt(*model, path_of)), 1u);
}

}  // namespace
}  // namespace onnxfs
