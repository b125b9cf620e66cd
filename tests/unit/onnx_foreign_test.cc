#include "core/onnx/foreign.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using namespace std::string_literals;
using testing::Message;

std::string tar_head() {
  std::string head(512, '\0');
  head.replace(0, 10, "model.onnx").replace(148, 8, "012345\0 ", 8).replace(257, 8, "ustar\00000", 8);
  return head;
}

std::string saved_model_head() {
  const Message meta_info = Message().bytes(1, "v1").bytes(4, "serve").bytes(5, "2.11.0");
  const Message meta_graph = Message().message(1, meta_info).bytes(2, std::string(300, '\x0a'));
  return Message().varint(1, 1).message(2, meta_graph).str();
}

std::string graph_def_head(size_t name_size) {
  const Message attribute = Message().bytes(1, "dtype").message(2, Message().varint(6, 1));
  const Message placeholder =
      Message().bytes(1, std::string(name_size, 'n')).bytes(2, "Placeholder").message(5, attribute);
  return Message().message(1, placeholder).message(1, placeholder).str();
}

struct Case {
  std::string head;
  const char* part;  // of the sentence
};

std::vector<Case> foreign_heads() {
  return {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 102400\n",
       "a git-lfs pointer, not the model (oid sha256:4d7a2146, 102400 bytes); fetch it with `git lfs pull`"},
      {"version https://git-lfs.github.com/spec/v1\n", "a git-lfs pointer, not the model (oid unknown, unknown bytes)"},
      {"PK\x03\x04\x14\0\0\0\x08\0"s, "a zip archive"},
      {"PK\x05\x06"s + std::string(18, '\0'), "an empty zip archive"},
      {"\x1f\x8b\x08\0\0\0\0\0\0\x03"s, "gzip"},
      {"BZh91AY&SY\x01", "bzip2"},
      {"\xfd"
       "7zXZ\0\0\x04"s,
       "xz-compressed"},
      {"\x28\xb5\x2f\xfd\x04\x58"s, "zstd"},
      {"7z\xbc\xaf\x27\x1c\0\x04"s, "7-zip"},
      {tar_head(), "a tar archive"},
      {"\x24\0\0\0ORTM\0\0\0\0"s, "ORT format"},
      {"\x1c\0\0\0TFL3\x14\0\x20\0"s, "TensorFlow Lite"},
      {"\x89HDF\r\n\x1a\n\0\0"s, "HDF5"},
      {"GGUF\x03\0\0\0"s, "GGUF"},
      {"\x93NUMPY\x01\0v\0{'descr'"s, "numpy array"},
      {"\x80\x02\x8a\x0al\xfc\x9c\x46"s, "pickle"},
      {"\x80\x04\x95\x1f\0\0\0"s, "pickle"},
      {"\x58\0\0\0\0\0\0\0{\"weight\":{\"dtype\":\"F32\""s, "safetensors"},
      {"\x02\0\0\0\0\0\0\0{}"s, "safetensors"},
      {saved_model_head(), "TensorFlow SavedModel"},
      {graph_def_head(5), "TensorFlow graph"},
      {graph_def_head(100), "TensorFlow graph"},
      {"{\n  \"irVersion\": \"8\",\n", "ONNX model as JSON"},
      {"{\"graph\": {}}", "ONNX model as JSON"},
      {"{\"a\": 1}", "JSON, not an ONNX model"},
      {"<\n   ir_version: 8,\n   opset_import: [\"\" : 17]\n>\n", "ONNX's text syntax"},
      {"<!DOCTYPE html>\n<html>", "HTML"},
      {"\r\n  <html>", "HTML"},
      {"ir_version: 8\nproducer_name: \"x\"\n", "protobuf text"},
      {"graph {\n  node {\n", "protobuf text"},
      {"404: Not Found", "text, not an ONNX model"},
      {"graphs are nice", "text, not an ONNX model"},
      {"", "empty"},
  };
}

TEST(RecogniseForeign, SaysWhatAFileIs) {
  for (const Case& foreign : foreign_heads()) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, foreign.part, recognise_foreign(foreign.head)) << foreign.head;
  }
}

TEST(RecogniseForeign, SentencesAreOneLineWhateverThePointerSays) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\r\noid sha256:00\r\nsize 5\r\n" + std::string(500, '\r');
  EXPECT_EQ(recognise_foreign(pointer).find_first_of("\r\n"), std::string::npos);
}

TEST(RecogniseForeign, TakesHeadsThatEndAnywhere) {
  for (const Case& foreign : foreign_heads()) {
    for (size_t size = 0; size <= foreign.head.size(); ++size) {
      const std::vector<char> exact(foreign.head.begin(), foreign.head.begin() + static_cast<ptrdiff_t>(size));
      EXPECT_NO_THROW(recognise_foreign({exact.data(), size}));
    }
  }
}

TEST(RecogniseForeign, NothingSpeaksAgainstModels) {
  const std::string graph_head =
      "\x3a\x7c\x0a\x18\x0a\x01X\x0a\x01W\x12\x01Y\"\x0d"
      "ConvTranspose";
  const std::string heads[] = {
      "\x08\x06\x12\x0c"
      "backend-test" +
          graph_head,
      "\x08\x07\x12\x07pytorch\x1a\x05"
      "2.1.0" +
          graph_head,
      "\x08\x08\x12\x06tf2onnx\x1a\x06"
      "1.15.1" +
          graph_head,
      "\x08\x08\x12\x08skl2onnx\x1a\x04"
      "1.16\x22\x07"
      "ai.onnx\x28\x00\x32\x00"s +
          graph_head,
      "\x08\x03\x12\x04"
      "CNTK\x1a\x03"
      "2.7\x22\x07"
      "ai.cntk" +
          graph_head,
      "\x08\x03\x12\x0donnx.quantize\x1a\x05"
      "0.1.0" +
          graph_head,
      "\x08\x0a\x12\x00"s + graph_head,
      "\x08\x0a\x12\x00\x1a\x00\x22\x00"s + graph_head,
      "\x08\x09" + graph_head,
      graph_head,
      "\x42\x02\x10\x11\x08\x08" + graph_head,
      "\x08\x08\x32\x0a\x0a\nnew\nlines" + graph_head,
      Message().message(1, Message().bytes(1, "\x01\x02\x03").bytes(2, "no name of a node")).str(),
  };
  for (const std::string& head : heads) EXPECT_EQ(recognise_foreign(head), "") << head;
}

// A model that a framework called "ORTModule" or "TFL3" wrote, and one that writes of tar archives.
TEST(RecogniseForeign, NothingSpeaksAgainstModelsThatHoldTheNamesOfOthers) {
  for (const std::string name :
       {"ORTModule", "TFL3", "PK\x03\x04", "GGUF", "\x1f\x8b", "<html>", "{\"a\":1}", "BZh9", "\nPyTorch"}) {
    EXPECT_EQ(recognise_foreign(Message().varint(1, 8).bytes(2, name).message(7, Message()).str()), "") << name;
  }
  const Message told_of_tar = Message().varint(1, 8).bytes(2, "x").bytes(6, std::string(249, '.') + "ustar archives");
  ASSERT_EQ(told_of_tar.str().substr(257, 5), "ustar");
  EXPECT_EQ(recognise_foreign(told_of_tar.str()), "");
}

TEST(RecogniseForeign, NothingSpeaksAgainstModelsOfManyShapes) {
  std::mt19937_64 random(15);
  for (int i = 0; i < 3000; ++i) {
    std::string name(random() % 300, '\0');
    for (char& c : name) c = static_cast<char>(' ' + random() % 95);
    Message model = Message().varint(1, 1 + random() % 14);
    if (random() % 4 != 0) model.bytes(2, name);
    if (random() % 2 != 0) model.bytes(3, "1.0");
    if (random() % 2 != 0) model.varint(5, random() % 3);
    model.message(7, testing::graph({testing::scalar(name)}));
    EXPECT_EQ(recognise_foreign(model.str().substr(0, 1024)), "") << name;
  }
}

}  // namespace
}  // namespace onnxfs
