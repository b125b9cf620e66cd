#include "core/views/json_edit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/views/listing.h"
#include "core/views/tensor_json.h"
#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::graph;
using testing::tensor;
namespace type = testing::type;

using Json = nlohmann::ordered_json;

class JsonEditTest : public ::testing::Test {
 protected:
  JsonEditTest() {
    model_ = testing::open_model(
        folder_,
        testing::model(graph({tensor("w", type::float32, {2, 3}).bytes(12, "first").bytes(9, std::string(24, 'w'))})));
  }

  Json json() const { return Json::parse(tensor_json(*model_, 0, edit_.get())); }
  JsonEdit parse(const Json& json) const { return parse_text(json.dump()); }
  JsonEdit parse_text(std::string_view text) const { return parse_json_edit(*model_, 0, edit_.get(), text); }

  void edit(TensorEdit edit) { edit_ = std::make_shared<const TensorEdit>(std::move(edit)); }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
  TensorEditPtr edit_;
};

TEST_F(JsonEditTest, OfTheSameTextIsNothing) {
  const JsonEdit same = parse_text(tensor_json(*model_, 0));
  EXPECT_FALSE(same.dims);
  EXPECT_FALSE(same.doc_string);
  EXPECT_FALSE(parse_text("{}").dims);
}

TEST_F(JsonEditTest, IsAShapeOfAsManyElementsAndADocString) {
  Json changed = json();
  changed["shape"] = {6};
  EXPECT_EQ(parse(changed).dims, (std::vector<int64_t>{6}));
  EXPECT_FALSE(parse(changed).doc_string);
  changed["doc_string"] = "zweite \xc3\xa4";
  EXPECT_EQ(parse(changed).doc_string, "zweite \xc3\xa4");
  EXPECT_EQ(parse_text(R"({"doc_string":""})").doc_string, "");
  EXPECT_EQ(parse_text(R"({"shape":[1,6,1]})").dims, (std::vector<int64_t>{1, 6, 1}));
}

TEST_F(JsonEditTest, RefusesOtherShapes) {
  for (const char* shape : {"[5]", "[]", "[2,-3]", "[-2,-3]", "[6.0]", "6", "null", "[[6]]", "[\"6\"]",
                            "[18446744073709551615]", "[4294967296,4294967296,4294967296]"}) {
    EXPECT_ERROR(parse_text(std::string("{\"shape\":") + shape + "}"), EINVAL, "shape");
  }
}

TEST_F(JsonEditTest, RefusesWhatIsNoJsonObject) {
  for (const char* text : {"", "{", "[]", "null", "{}{}", "{\"doc_string\":\"\xff\"}", "doc_string: x"}) {
    EXPECT_ERROR(parse_text(text), EINVAL, "no JSON object");
  }
  EXPECT_ERROR(parse_text(R"({"doc_string":3})"), EINVAL, "doc_string");
}

TEST_F(JsonEditTest, RefusesAnyOtherChangeByItsKey) {
  const Json now = json();
  for (const auto& [key, value] : now.items()) {
    if (key == "shape" || key == "doc_string") continue;
    Json changed = now;
    changed[key] = "something else";
    EXPECT_ERROR(parse(changed), EINVAL, key);
  }
  EXPECT_ERROR(parse_text(R"({"new":1})"), EINVAL, "new");
}

TEST_F(JsonEditTest, TakesATextFromBeforeAnEdit) {
  const std::string before = tensor_json(*model_, 0);
  edit({Rope::of(std::string(24, 'x')), std::vector<int64_t>{6}, "second", {}});
  const JsonEdit back = parse_text(before);
  EXPECT_EQ(back.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(back.doc_string, "first");
}

TEST_F(JsonEditTest, ListsHaveNone) {
  Tensor tensor;
  EXPECT_TRUE(can_be_annotated(tensor));
  for (const Storage storage : {Storage::attribute, Storage::keys}) {
    tensor.storage = storage;
    EXPECT_FALSE(can_be_annotated(tensor));
  }
  tensor = Tensor();
  tensor.kind = Kind::delayed;
  EXPECT_FALSE(can_be_annotated(tensor));
}

TEST_F(JsonEditTest, TheJsonTellsOfEdits) {
  EXPECT_EQ(json()["edited"], false);
  edit({std::nullopt, std::vector<int64_t>{3, 2}, std::nullopt, {}});
  EXPECT_EQ(json()["edited"], true);
  EXPECT_EQ(json()["shape"], (Json{3, 2}));
  EXPECT_EQ(json()["storage"], "raw_data");
  EXPECT_EQ(json()["doc_string"], "first");
  edit({Rope::of(std::string(24, 'x')), std::nullopt, "second", {}});
  EXPECT_EQ(json()["shape"], (Json{2, 3}));
  EXPECT_EQ(json()["doc_string"], "second");
  EXPECT_EQ(json()["storage"], "sidecar");
  EXPECT_EQ(json()["offset"], nullptr);
  EXPECT_EQ(json()["nbytes"], 24);
}

TEST_F(JsonEditTest, TheListingsTellOfEdits) {
  const auto path_of = [](uint32_t tensor) { return fmt::format("t{}", tensor); };
  EXPECT_EQ(edits_tsv(path_of, {}), "path\tchanged\tat\n");
  edit({Rope::of(std::string(24, 'x')), std::vector<int64_t>{6}, "second", {1'700'000'000, 0}});
  EXPECT_EQ(edits_tsv(path_of, {{0, edit_}}),
            "path\tchanged\tat\nt0.bin\tpayload,shape,doc_string\t2023-11-14T22:13:20Z\n");
  EXPECT_EQ(index_tsv(*model_, path_of, {{0, edit_}}),
            "path\tdtype\tshape\tnbytes\tstorage\nt0.bin\tfloat32\t[6]\t24\tsidecar\n");
  edit({std::nullopt, std::nullopt, "second", {}});
  EXPECT_EQ(edits_tsv(path_of, {{0, edit_}}), "path\tchanged\tat\nt0.bin\tdoc_string\t1970-01-01T00:00:00Z\n");
}

}  // namespace
}  // namespace onnxfs
