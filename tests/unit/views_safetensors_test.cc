#include "core/views/safetensors.h"

#include <nlohmann/json.hpp>

#include "core/views/safetensors_entries.h"
#include "tests/unit/allocations.h"
#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using nlohmann::json;
using testing::graph;
using testing::Message;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

std::string path_of(uint32_t index) { return "folder/" + std::to_string(index); }

struct File {
  std::string bytes;
  json header;  // with its keys sorted
  std::string data;

  std::string data_of(const std::string& key) const {
    const uint64_t begin = header[key]["data_offsets"][0], end = header[key]["data_offsets"][1];
    return data.substr(begin, end - begin);
  }
};

uint64_t bits_of(const std::string& dtype) {
  static const std::map<std::string, uint64_t> bits{
      {"BOOL", 8},    {"U8", 8},      {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F4", 4},
      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"I16", 16}, {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},
      {"U32", 32},    {"F32", 32},    {"C64", 64}, {"F64", 64},    {"I64", 64},    {"U64", 64}};
  return bits.at(dtype);
}

// By the rules of the reference reader; fails the test for what it would refuse.
File checked(const std::string& bytes) {
  File file{bytes, {}, {}};
  uint64_t length = 0;
  for (size_t i = 8; i-- != 0;) length = length << 8 | static_cast<uint8_t>(bytes[i]);
  EXPECT_LE(length, 100'000'000u);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_LE(length + 8, bytes.size());
  EXPECT_EQ(bytes[8], '{');
  file.header = json::parse(bytes.substr(8, length));
  file.data = bytes.substr(8 + length);
  std::map<uint64_t, uint64_t> ranges;
  for (const auto& [key, entry] : file.header.items()) {
    if (key == "__metadata__") {
      for (const auto& [name, value] : entry.items()) EXPECT_TRUE(value.is_string()) << name;
      continue;
    }
    const uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    uint64_t bits = bits_of(entry["dtype"]);
    EXPECT_EQ(begin % std::max<uint64_t>(bits / 8, 1), 0u) << key;
    for (const uint64_t dim : entry["shape"]) bits *= dim;
    EXPECT_EQ(bits % 8, 0u) << key;
    EXPECT_EQ(bits / 8, end - begin) << key;
    if (begin != end) {
      EXPECT_TRUE(ranges.emplace(begin, end).second) << key;
    }
  }
  uint64_t at = 0;
  for (const auto& [begin, end] : ranges) {
    EXPECT_EQ(begin, at);
    at = end;
  }
  EXPECT_EQ(at, file.data.size());
  return file;
}

class SafetensorsTest : public ::testing::Test {
 protected:
  void open_model(const Message& model) { model_ = testing::open_model(folder_, model); }
  void open(const std::vector<Message>& tensors) { open_model(testing::model(graph(tensors))); }

  Rope rope() const { return safetensors(model_, edits_, path_of); }
  File file() const { return checked(rope().text()); }

  TensorEdit& edit(uint32_t tensor) {
    auto edit = std::make_shared<TensorEdit>();
    edits_[tensor] = edit;
    return *edit;
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
  Edits edits_;
};

TEST_F(SafetensorsTest, IsAHeaderAndThePayloads) {
  open({tensor("b", type::uint8, {3}).bytes(9, "abc"), tensor("a", type::float32, {1, 1}).bytes(9, "1234")});
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[3],"data_offsets":[4,7]}})";
  std::string padded = header;
  padded.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(rope().text(), testing::fixed_bytes(padded.size(), 8) + padded + "1234abc");
  EXPECT_EQ(rope().extents().size(), 3u);
}

TEST_F(SafetensorsTest, OfNothingIsAnEmptyObject) {
  open(std::vector<Message>{});
  EXPECT_EQ(rope().text(), testing::fixed_bytes(8, 8) + "{}      ");
}

TEST_F(SafetensorsTest, HoldsEveryType) {
  std::vector<Message> tensors;
  std::vector<std::string> payloads;
  for (const DataType& type : all_data_types()) {
    for (const int64_t elements : {0, 1, 3, 8}) {
      Message message = tensor(std::string(type.name) + std::to_string(elements), type.number, {elements});
      std::vector<std::string> strings(static_cast<size_t>(elements), "text");
      const bool is_string = type.number == string_type;
      payloads.push_back(is_string ? testing::strings_payload(strings)
                                   : testing::random_payload(type, static_cast<uint64_t>(elements), tensors.size()));
      if (is_string) {
        for (const std::string& text : strings) message.bytes(6, text);
      } else {
        message.bytes(9, payloads.back());
      }
      tensors.push_back(message);
    }
  }
  open(tensors);
  const File file = this->file();
  ASSERT_EQ(file.header.size(), tensors.size() + 1);
  size_t i = 0;
  for (const DataType& type : all_data_types()) {
    for (const int64_t elements : {0, 1, 3, 8}) {
      const std::string key = std::string(type.name) + std::to_string(elements);
      EXPECT_EQ(file.data_of(key), payloads[i]) << key;
      const bool opaque = file.header["__metadata__"].contains("dtype:" + key);
      EXPECT_EQ(opaque, safetensors_dtype(type, static_cast<uint64_t>(elements)).empty()) << key;
      if (opaque) {
        EXPECT_EQ(file.header["__metadata__"]["dtype:" + key], type.name);
        EXPECT_EQ(file.header["__metadata__"]["shape:" + key], fmt::format("[{}]", elements));
        EXPECT_EQ(file.header[key]["dtype"], "U8");
        EXPECT_EQ(file.header[key]["shape"], json::array({payloads[i].size()}));
      } else {
        EXPECT_EQ(file.header[key]["shape"], json::array({elements}));
      }
      ++i;
    }
  }
  testing::expect_reads_alike(rope(), file.bytes);
}

TEST(SafetensorsDtype, IsOnlyForWholeBytes) {
  const auto dtype = [](int32_t number, uint64_t elements) {
    return safetensors_dtype(*find_data_type(number), elements);
  };
  EXPECT_EQ(dtype(23, 2), "F4");
  EXPECT_EQ(dtype(23, 3), "");
  EXPECT_EQ(dtype(27, 4), "F6_E2M3");
  EXPECT_EQ(dtype(27, 2), "");
  EXPECT_EQ(dtype(28, 0), "F6_E3M2");
  EXPECT_EQ(dtype(22, 2), "");
  EXPECT_EQ(dtype(15, 1), "");
  EXPECT_EQ(dtype(18, 1), "");
  EXPECT_EQ(dtype(8, 1), "");
  EXPECT_EQ(dtype(14, 1), "C64");
}

TEST_F(SafetensorsTest, WidestComeFirstAndThenTheOrderIsThatOfKeys) {
  open({tensor("z", type::uint8, {1}).bytes(9, "1"), tensor("y", type::float64, {1}).bytes(9, "12345678"),
        tensor("b", type::float16, {1}).bytes(9, "12"), tensor("a", type::uint8, {1}).bytes(9, "2"),
        tensor("c", type::int16, {1}).bytes(9, "34")});
  EXPECT_EQ(file().data,
            "12345678"
            "12"
            "34"
            "2"
            "1");
}

TEST_F(SafetensorsTest, KeysAreNamesOrElsePaths) {
  const Message attribute = Message().bytes(1, "value").message(5, scalar("named")).varint(20, 4);
  Message graph = testing::graph({scalar("w"), scalar("w"), scalar(""), scalar("\xff"), scalar("folder/7"),
                                  scalar("__metadata__"), scalar("quote\"")});
  graph.message(1, testing::node("Constant", {}, {"c"}).message(5, attribute));
  open_model(testing::model(graph));
  std::vector<std::string> keys;
  const File file = this->file();
  for (const auto& [key, entry] : file.header.items()) keys.push_back(key);
  std::ranges::sort(keys);
  EXPECT_EQ(keys, (std::vector<std::string>{"folder/1", "folder/2", "folder/3", "folder/4", "folder/5", "folder/7",
                                            "quote\"", "w"}));
}

TEST_F(SafetensorsTest, BrokenTensorsAreLeftOutAndNamed) {
  open({tensor("bad", type::float32, {2}).bytes(9, "123"), scalar("good")});
  const File file = this->file();
  EXPECT_FALSE(file.header.contains("bad"));
  EXPECT_EQ(file.header["__metadata__"],
            json::parse(R"({"problem:folder/0": "raw_data has 3 bytes, float32[2] needs 8"})"));
  EXPECT_EQ(file.data.size(), 4u);
}

TEST_F(SafetensorsTest, WhatOnlyReadingShowsToBeBrokenIsLeftOutFromThenOn) {
  open({tensor("w", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300)), scalar("good")});
  EXPECT_ERROR(rope().text(), EIO, "5000 entries");
  EXPECT_EQ(file().data.size(), 4u);
}

TEST_F(SafetensorsTest, UnknownTypesAreBytes) {
  open({tensor("w", 99, {7}).bytes(9, "abc")});
  const File file = this->file();
  EXPECT_EQ(file.header["w"], json::parse(R"({"dtype": "U8", "shape": [3], "data_offsets": [0, 3]})"));
  EXPECT_EQ(file.header["__metadata__"], json::parse(R"({"dtype:w": "null", "shape:w": "[7]"})"));
}

TEST_F(SafetensorsTest, EditsCount) {
  open({tensor("a", type::uint8, {4}).bytes(9, "abcd"), tensor("s", type::string, {1}).bytes(6, "text"),
        tensor("i", type::int4, {2}).bytes(9, "x")});
  edit(0).payload = Rope::of("wxyz");
  edit(1).payload = Rope::of(testing::strings_payload({"a longer text"}));
  edit(2).dims = testing::Dims{2, 1};
  const File file = this->file();
  EXPECT_EQ(file.data_of("a"), "wxyz");
  EXPECT_EQ(file.data_of("s"), testing::strings_payload({"a longer text"}));
  EXPECT_EQ(file.header["__metadata__"]["shape:i"], "[2,1]");
  edit(0).dims = testing::Dims{2, 2};
  EXPECT_EQ(this->file().header["a"]["shape"], json::array({2, 2}));
  EXPECT_EQ(this->file().data_of("a"), "abcd");
}

TEST_F(SafetensorsTest, NoPayloadIsReadToMakeIt) {
  open({tensor("w", type::int64, {20'000}).packed(7, std::vector<uint64_t>(20'000, 1)),
        tensor("s", type::string, {1}).bytes(6, std::string(100'000, 'x'))});
  const testing::AllocationWatch watch;
  EXPECT_EQ(rope().size(), 20'000 * 8 + 100'004 + 8 + 184u);
  EXPECT_LE(watch.bytes(), 16 * 1024u);
}

TEST_F(SafetensorsTest, AHeaderLongerThanTheFormatAllowsIsRefused) {
  // Each of these bytes is six characters of JSON.
  open({tensor(std::string(17'000'000, '\1'), type::uint8, {0})});
  EXPECT_ERROR(rope(), EFBIG, "more than the 100000000 bytes");
}

}  // namespace
}  // namespace onnxfs
