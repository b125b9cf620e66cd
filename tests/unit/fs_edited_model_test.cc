// A model with its edits as commands read it, and the tensors that a user names.
#include "fs/edited_model.h"

#include <gtest/gtest.h>

#include "fs/tensor_selection.h"
#include "tests/unit/commit_fixture.h"

namespace onnxfs {
namespace {

class EditedModelTest : public testing::CommitTest {
 protected:
  std::vector<std::string> selected(const std::vector<std::string>& patterns) const {
    const auto model = EditedModel::open(path_, "", "test");
    std::vector<std::string> paths;
    for (const uint32_t tensor : select_tensors(model->model()->catalog(), model->tree(), patterns, "the model")) {
      paths.push_back(model->path_of(tensor));
    }
    return paths;
  }
};

TEST_F(EditedModelTest, ShowsTheEditsThatThereWereWhenItWasOpened) {
  EXPECT_TRUE(EditedModel::open(path_, "", "test")->edits().empty());
  write("raw", 0, "R");
  const auto model = EditedModel::open(path_, "", "test");
  const uint32_t raw = 1;
  EXPECT_EQ(model->payload(raw).text(), "Rrrrrrrr");
  EXPECT_EQ(model->content(raw).payload.text(), "Rrrrrrrr");
  EXPECT_EQ(model->content(raw).dims, std::vector<int64_t>{8});
  EXPECT_EQ(model->edit(raw)->payload->size(), 8u);
  EXPECT_EQ(model->edit(0), nullptr);
  EXPECT_EQ(model->payload(0).size(), large);
  write("raw", 1, "R");
  EXPECT_EQ(model->payload(raw).text(), "Rrrrrrrr");
}

TEST_F(EditedModelTest, FindsEditsInAnotherFolder) {
  write("raw", 0, "R");
  std::filesystem::rename(sidecar_folder(), folder_ / "edits");
  EXPECT_EQ(EditedModel::open(path_, folder_ / "edits", "test")->edits().size(), 1u);
  EXPECT_EQ(EditedModel::open(path_, "", "test")->edits().size(), 0u);
  EXPECT_ERROR(EditedModel::open(folder_ / "none", "", "test"), ENOENT, folder_ / "none");
}

TEST_F(EditedModelTest, TensorsAreNamedByGlobsPathsAndFolders) {
  const std::vector<std::string> all{"initializers/large", "initializers/raw", "initializers/ints",
                                     "initializers/text",  "initializers/w",   "initializers/tied",
                                     "initializers/v"};
  EXPECT_EQ(selected({}), all);
  for (const auto* folder : {"*", "initializers", "/initializers/", "initializers/*", "*.bin"}) {
    EXPECT_EQ(selected({folder}), all) << folder;
  }
  using Paths = std::vector<std::string>;
  EXPECT_EQ(selected({"initializers/v.bin"}), Paths{"initializers/v"});
  EXPECT_EQ(selected({"initializers/v.json", "initializers/[lv]*"}), (Paths{"initializers/large", "initializers/v"}));
  EXPECT_EQ(selected({"*t*d", "*/raw.npy"}), (Paths{"initializers/raw", "initializers/tied"}));
}

TEST_F(EditedModelTest, APatternThatNamesNothingIsAnError) {
  for (const auto* pattern : {"vv", "initializer", "initializers/v.bin/x", "attributes/*", "", "**x"}) {
    EXPECT_ERROR(selected({"*", pattern}), ENOENT, pattern);
  }
}

}  // namespace
}  // namespace onnxfs
