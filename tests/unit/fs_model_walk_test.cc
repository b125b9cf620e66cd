#include "fs/model_walk.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

using Paths = std::vector<std::string>;

class ModelWalkTest : public ::testing::Test {
 protected:
  // What is visited, relative to the folder.
  Paths walked(const std::string& beneath = "") {
    Paths paths;
    const std::string folder = beneath.empty() ? folder_.path() : folder_ / beneath;
    walk_models(folder, {[&](const std::string& path) {
                           EXPECT_TRUE(path.starts_with(folder + "/"));
                           paths.push_back(path.substr(folder.size() + 1));
                         },
                         [this](const std::string& sentence) { troubles_.push_back(sentence); }});
    return paths;
  }

  testing::TemporaryFolder folder_;
  Paths troubles_;
};

TEST_F(ModelWalkTest, FindsModelsInOrder) {
  for (const char* name : {"b.onnx", "a.pb", "a.txt", "sub/deep/c.onnx", "sub/a.onnx", "other/x.onnx", "a.onnx.data",
                           "b.onnx.sidecar/d.onnx", "notes.sidecar/e.onnx"}) {
    folder_.write(name, "");
  }
  folder_.folder("folder.onnx");
  folder_.write("folder.onnx/in.onnx", "");
  EXPECT_EQ(walked(), (Paths{"a.pb", "b.onnx", "folder.onnx/in.onnx", "notes.sidecar/e.onnx", "other/x.onnx",
                             "sub/a.onnx", "sub/deep/c.onnx"}));
  EXPECT_EQ(walked("sub"), (Paths{"a.onnx", "deep/c.onnx"}));
  EXPECT_TRUE(troubles_.empty());
}

TEST_F(ModelWalkTest, FollowsLinksToFilesAlone) {
  folder_.write("blobs/1", "");
  folder_.symlink("a.onnx", "blobs/1");
  folder_.symlink("dangling.onnx", "blobs/2");
  folder_.symlink("loop.onnx", "loop.onnx");
  folder_.symlink("folder.onnx", "blobs");
  folder_.symlink("sub/up", "..");
  folder_.symlink("out", "/");
  EXPECT_EQ(walked(), Paths{"a.onnx"});
  folder_.symlink("link", "sub");
  folder_.write("sub/b.onnx", "");
  EXPECT_EQ(walked("link"), Paths{"b.onnx"}) << "the folder itself may be reached by one";
}

TEST_F(ModelWalkTest, SaysWhatCannotBeListed) {
  const Paths none;
  std::string deep = folder_.path();
  // Longer than a path may be: made step by step, from within.
  std::filesystem::path start = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (int i = 0; i < 20; ++i) {
    std::filesystem::create_directory(std::string(250, 'd'));
    std::filesystem::current_path(std::string(250, 'd'));
  }
  std::filesystem::current_path(start);
  folder_.write("z.onnx", "");
  EXPECT_EQ(walked(), Paths{"z.onnx"});
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_NE(troubles_[0].find("File name too long"), std::string::npos);
}

}  // namespace
}  // namespace onnxfs
