#include "fs/status.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::external;
using testing::tensor;
namespace type = testing::type;

using Json = nlohmann::ordered_json;

TEST(StatusJson, TellsOfTheProgramTheMountAndTheFiles) {
  const testing::TemporaryFolder folder;
  folder.write("w.bin", "12345678");
  const auto model =
      testing::open_model(folder, testing::model(testing::graph({
                                      testing::scalar("a"),
                                      external(tensor("b", type::float32, {2}), {{"location", "w.bin"}}),
                                      external(tensor("c", type::float32, {2}), {{"location", "missing.bin"}}),
                                      tensor("d", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300)),
                                  })));
  const MountFacts facts{"/models/my \"model\".onnx", "/mnt/m", 1'700'000'000, true};
  const auto sidecar = Sidecar::open(model, "/edits", "/mnt/m");
  Json status = Json::parse(status_json(*sidecar, facts, {"initializers/typo.bin"}));
  EXPECT_EQ(status["program"], "onnxfs");
  EXPECT_EQ(status["pid"], ::getpid());
  EXPECT_EQ(status["model"], "/models/my \"model\".onnx");
  EXPECT_EQ(status["mount_point"], "/mnt/m");
  EXPECT_EQ(status["mounted_at"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(status["read_only"], true);
  EXPECT_EQ(status["scratch_files"], Json::array({"initializers/typo.bin"}));
  EXPECT_EQ(status["sidecar"], "/edits");
  EXPECT_EQ(status["edited_tensors"], 0);
  EXPECT_EQ(status["sidecar_bytes"], 0);
  EXPECT_EQ(status["sidecar_remarks"], Json::array());
  EXPECT_EQ(status["tensors"], 4);
  EXPECT_EQ(status["broken_tensors"], 1);
  EXPECT_EQ(status["model_file"]["file"], "model.onnx");
  EXPECT_EQ(status["model_file"]["size"], model->file()->size());
  EXPECT_EQ(status["model_file"]["changed"], false);
  EXPECT_EQ(status["model_file"]["problem"], nullptr);
  ASSERT_EQ(status["data_files"].size(), 2u);
  EXPECT_EQ(status["data_files"][0].dump(), R"({"file":"w.bin","size":8,"changed":false,"problem":null})");
  EXPECT_EQ(
      status["data_files"][1].dump(),
      R"({"file":"missing.bin","size":null,"changed":false,"problem":"its data file \"missing.bin\" is missing"})");

  EXPECT_ERROR(model->payload(3), EIO, "");
  std::filesystem::resize_file(folder / "w.bin", 3);
  status = Json::parse(status_json(*sidecar, facts, {"initializers/typo.bin"}));
  EXPECT_EQ(status["broken_tensors"], 2);
  EXPECT_EQ(status["data_files"][0]["changed"], true);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "changed on disk", status["data_files"][0]["problem"].get<std::string>());
  EXPECT_EQ(status["model_file"]["changed"], false);
}

}  // namespace
}  // namespace onnxfs
