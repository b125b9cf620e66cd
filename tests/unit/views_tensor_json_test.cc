#include "core/views/tensor_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using namespace std::string_literals;
using testing::Dims;
using testing::external;
using testing::graph;
using testing::Message;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

using Json = nlohmann::ordered_json;

const std::vector<std::string> constant_keys{"name",   "kind",     "scope",      "dtype",  "onnx_type", "bits",
                                             "shape",  "elements", "nbytes",     "numpy",  "storage",   "file",
                                             "offset", "length",   "doc_string", "edited", "problem"};

class TensorJsonTest : public ::testing::Test {
 protected:
  std::string text(const Message& tensor) {
    model_ = testing::open_model(folder_, testing::model(graph({tensor})), "m.onnx");
    return tensor_json(*model_, 0);
  }
  Json json(const Message& tensor) { return Json::parse(text(tensor)); }

  // All keys of the document, without those that are always there.
  static std::vector<std::string> more_keys(const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    EXPECT_GE(keys.size(), constant_keys.size());
    const auto more = keys.begin() + static_cast<ptrdiff_t>(std::min(keys.size(), constant_keys.size()));
    EXPECT_EQ(std::vector<std::string>(keys.begin(), more), constant_keys);
    return {more, keys.end()};
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
};

TEST_F(TensorJsonTest, IsAMemberALine) {
  const Message weight =
      tensor("conv1.weight", type::float32, {2, 3}).bytes(12, "first layer").bytes(9, std::string(24, 'w'));
  const std::string got = text(weight);
  const std::string offset = std::to_string(model_->catalog().tensors()[0].data.begin);
  EXPECT_EQ(got,
            "{\n"
            "  \"name\": \"conv1.weight\",\n"
            "  \"kind\": \"initializer\",\n"
            "  \"scope\": \"graph\",\n"
            "  \"dtype\": \"float32\",\n"
            "  \"onnx_type\": \"FLOAT\",\n"
            "  \"bits\": 32,\n"
            "  \"shape\": [2,3],\n"
            "  \"elements\": 6,\n"
            "  \"nbytes\": 24,\n"
            "  \"numpy\": \"<f4\",\n"
            "  \"storage\": \"raw_data\",\n"
            "  \"file\": \"m.onnx\",\n"
            "  \"offset\": " +
                offset +
                ",\n"
                "  \"length\": 24,\n"
                "  \"doc_string\": \"first layer\",\n"
                "  \"edited\": false,\n"
                "  \"problem\": null\n"
                "}\n");
}

TEST_F(TensorJsonTest, ScopeIsAsGiven) {}

TEST_F(TensorJsonTest, EveryTypeIsDescribed) {
  for (const DataType& data_type : all_data_types()) {
    if (data_type.number == string_type) continue;
    const Json got = json(tensor("w", data_type.number, {4}).bytes(9, std::string(data_type.bits / 2, 'x')));
    EXPECT_TRUE(more_keys(got).empty());
    EXPECT_EQ(got["dtype"], data_type.name);
    EXPECT_EQ(got["onnx_type"], data_type.onnx_name);
    EXPECT_EQ(got["bits"], data_type.bits);
    EXPECT_EQ(got["nbytes"], data_type.bits / 2);
    EXPECT_EQ(got["numpy"], data_type.numpy);
    EXPECT_EQ(got["problem"], nullptr);
  }
}

TEST_F(TensorJsonTest, StringsHaveNoBitsAndNoNumpyType) {
  const Json got = json(tensor("w", type::string, {2}).bytes(6, "ab").bytes(6, ""));
  EXPECT_TRUE(more_keys(got).empty());
  EXPECT_EQ(got["dtype"], "string");
  EXPECT_EQ(got["onnx_type"], "STRING");
  EXPECT_EQ(got["bits"], nullptr);
  EXPECT_EQ(got["numpy"], nullptr);
  EXPECT_EQ(got["nbytes"], 10);
  EXPECT_EQ(got["storage"], "string_data");
  EXPECT_EQ(got["file"], nullptr);
  EXPECT_EQ(got["offset"], nullptr);
  EXPECT_EQ(got["length"], nullptr);
}

TEST_F(TensorJsonTest, UnknownTypesShowTheirNumber) {
  const Json unknown = json(tensor("w", 77, {2}).bytes(9, "12345"));
  EXPECT_EQ(more_keys(unknown), std::vector<std::string>{"data_type"});
  EXPECT_EQ(unknown["dtype"], nullptr);
  EXPECT_EQ(unknown["onnx_type"], nullptr);
  EXPECT_EQ(unknown["bits"], nullptr);
  EXPECT_EQ(unknown["numpy"], "|u1");
  EXPECT_EQ(unknown["nbytes"], 5);
  EXPECT_EQ(unknown["data_type"], 77);
  EXPECT_EQ(unknown["problem"], nullptr);
  EXPECT_EQ(json(tensor("w", -5, {2}).bytes(9, "1"))["data_type"], -5);
  const Json undefined = json(tensor("w", type::undefined, {2}).bytes(9, "1"));
  EXPECT_EQ(undefined["dtype"], nullptr);
  EXPECT_EQ(undefined["onnx_type"], "UNDEFINED");
  EXPECT_EQ(undefined["data_type"], 0);
}

TEST_F(TensorJsonTest, PlaceIsToldWhereThereIsOnePiece) {
  folder_.write("w.bin", std::string(100, 'w'));
  const Json outside = json(external(tensor("w", type::float32, {2}), {{"location", "./w.bin"}, {"offset", "17"}}));
  EXPECT_EQ(outside["storage"], "external");
  EXPECT_EQ(outside["file"], "w.bin");
  EXPECT_EQ(outside["offset"], 17);
  EXPECT_EQ(outside["length"], 8);
  const Json packed = json(tensor("w", type::float32, {2}).bytes(4, "12345678"));
  EXPECT_EQ(packed["storage"], "float_data");
  EXPECT_EQ(packed["file"], "m.onnx");
  EXPECT_EQ(packed["length"], 8);
  const Json unpacked = json(tensor("w", type::float32, {2}).number(4, 1).number(4, 2));
  EXPECT_EQ(unpacked["storage"], "float_data");
  EXPECT_EQ(unpacked["file"], nullptr);
  EXPECT_EQ(json(tensor("w", type::uint32, {1}).varint(11, 1))["storage"], "uint64_data");
  EXPECT_EQ(json(tensor("w", type::int64, {0}))["storage"], "none");
}

TEST_F(TensorJsonTest, BrokenTensorsTellWhy) {
  const Json got = json(tensor("w", type::float32, {3}).bytes(9, "1234"));
  EXPECT_TRUE(more_keys(got).empty());
  EXPECT_EQ(got["problem"], "raw_data has 4 bytes, float32[3] needs 12");
  EXPECT_EQ(got["nbytes"], 12);
  EXPECT_EQ(got["storage"], "raw_data");
  EXPECT_EQ(got["file"], nullptr);
  EXPECT_EQ(got["offset"], nullptr);
  const Json shapeless = json(tensor("w", type::float32, {-1, 2}).bytes(9, "1234"));
  EXPECT_EQ(shapeless["shape"], Json::array({-1, 2}));
  EXPECT_EQ(shapeless["elements"], nullptr);
}

TEST_F(TensorJsonTest, LateProblemsAreToldOnceKnown) {
  const Message late = tensor("w", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300));
  EXPECT_EQ(json(late)["problem"], nullptr);
  EXPECT_ERROR(model_->payload(0), EIO, "");
  EXPECT_EQ(Json::parse(tensor_json(*model_, 0))["problem"], "int64_data has 5000 entries, its shape needs 5001");
}

TEST_F(TensorJsonTest, TextIsEscaped) {
  const std::string odd = "a\"b\\c\nd\te\x01\x7f é中/ \u2028";
  const Json got = json(scalar(odd).bytes(12, "line\nline \"q\""));
  EXPECT_EQ(got["name"], odd);
  EXPECT_EQ(got["doc_string"], "line\nline \"q\"");
  EXPECT_EQ(json(scalar("nul\0in it"s))["name"], "nul\0in it"s);
  EXPECT_EQ(json(scalar(""))["name"], "");
  EXPECT_EQ(json(Message().varint(2, type::float32).bytes(9, "1234"))["name"], "");
}

// A member a line, whatever it says.
TEST_F(TensorJsonTest, LinesAreMembers) {
  const std::string got = text(scalar("a\nb").bytes(12, "c\r\nd"));
  EXPECT_EQ(static_cast<size_t>(std::count(got.begin(), got.end(), '\n')), constant_keys.size() + 2);
}

TEST_F(TensorJsonTest, NamesThatAreNotUtf8AreToldInBase64) {
  const std::pair<std::string, std::string> cases[] = {{"\xff", "/w=="},
                                                       {"\xff\xfe", "//4="},
                                                       {"\xff\xfe\xfd", "//79"},
                                                       {"a\xff\0b"s, "Yf8AYg=="},
                                                       {"\xed\xa0\x80", "7aCA"}};
  for (const auto& [name, base64] : cases) {
    const Json got = json(scalar(name));
    EXPECT_EQ(more_keys(got), std::vector<std::string>{"name_base64"});
    EXPECT_EQ(got["name_base64"], base64);
    EXPECT_NE(got["name"].get<std::string>().find("\uFFFD"), std::string::npos);
  }
  EXPECT_TRUE(more_keys(json(scalar("é"))).empty());
}

TEST_F(TensorJsonTest, ChecksumIsTold) {
  folder_.write("w.bin", std::string(100, 'w'));
  const Json got = json(external(tensor("w", type::float32, {2}), {{"location", "w.bin"}, {"checksum", "da39a3ee"}}));
  EXPECT_EQ(more_keys(got), std::vector<std::string>{"checksum"});
  EXPECT_EQ(got["checksum"], "da39a3ee");
}

TEST_F(TensorJsonTest, ModelThatChangedIsStale) {
  text(scalar("w").bytes(12, "doc"));
  std::filesystem::resize_file(folder_ / "m.onnx", 3);
  EXPECT_ERROR(tensor_json(*model_, 0), ESTALE, "m.onnx changed on disk");
}

TEST(ShapeJson, IsAListOfNumbers) {
  Tensor shape;
  EXPECT_EQ(shape_json(shape), "[]");
  const Dims dims{64, 3, -1};
  shape.dims = dims;
  EXPECT_EQ(shape_json(shape), "[64,3,-1]");
}

TEST(DtypeWord, IsTheNameOrNull) {
  Tensor tensor;
  EXPECT_EQ(dtype_word(tensor), "null");
  tensor.data_type = type::bfloat16;
  EXPECT_EQ(dtype_word(tensor), "bfloat16");
  tensor.data_type = 99;
  EXPECT_EQ(dtype_word(tensor), "null");
}

}  // namespace
}  // namespace onnxfs
