// The commands that list, drop and commit edits.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/bytes/mount_table.h"
#include "core/sidecar/journal.h"
#include "fs/commands.h"
#include "fs/progress_line.h"
#include "fs/tensor_selection.h"
#include "fs/writable_mount.h"
#include "tests/unit/command_output.h"
#include "tests/unit/commit_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::expect_states;
using testing::output_of;

class EditCommandsTest : public testing::CommitTest {};

TEST_F(EditCommandsTest, HelpFitsAScreenAndHasAnExample) {
  for (const auto command : {commit_command, discard_command, status_command}) {
    const std::string help = output_of(command, {"--help"});
    EXPECT_LE(std::ranges::count(help, '\n'), 24) << help;
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "Example:", help);
    ::testing::internal::CaptureStderr();
    output_of(command, {}, 2);
    output_of(command, {path_, "--no-such-flag"}, 2);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "--help", ::testing::internal::GetCapturedStderr());
  }
}

TEST_F(EditCommandsTest, CommitWritesTheEdits) {
  edit_all();
  const auto expected = edited_states();
  EXPECT_EQ(output_of(commit_command, {path_}),
            "Committed 6 edited tensors:\n  " + folder_ / "m/w.bin" + "\n  " + path_ + "\n");
  expect_states(path_, expected);
  EXPECT_EQ(output_of(commit_command, {path_}), "Nothing is edited in " + path_ + "\n");
}

TEST_F(EditCommandsTest, CommitTakesAnOutputASidecarAndAWay) {
  write("raw", 0, "R");
  const auto expected = edited_states();
  files::rename(sidecar_folder(), folder_ / "edits");
  output_of(commit_command, {path_, "-o", folder_ / "m/new.onnx", "--sidecar", folder_ / "edits"});
  expect_states(folder_ / "m/new.onnx", expected);
  ::testing::internal::CaptureStderr();
  output_of(commit_command, {path_, "-o", folder_ / "m/new.onnx", "--in-place"}, 2);
  ::testing::internal::GetCapturedStderr();
  output_of(commit_command, {path_, "--in-place", "--sidecar", folder_ / "edits"});
  expect_states(path_, expected);
  EXPECT_FALSE(files::exists(folder_ / "edits"));
}

TEST_F(EditCommandsTest, CommitFailsWithASentence) {
  EXPECT_ERROR(output_of(commit_command, {folder_ / "none"}), ENOENT, folder_ / "none");
}

TEST_F(EditCommandsTest, StatusListsTheEdits) {
  EXPECT_EQ(output_of(status_command, {path_}), "Nothing is edited in " + path_ + "\n");
  write("raw", 0, "R");
  annotate("raw", {2, 4}, "documented");
  const std::string text = output_of(status_command, {path_});
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "1 edited tensor in " + sidecar_folder(), text);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "\ninitializers/raw.bin\tpayload,shape,doc_string\t2", text);

  const auto json = nlohmann::json::parse(output_of(status_command, {path_, "--json"}));
  EXPECT_EQ(json["edits"].size(), 1U);
  EXPECT_EQ(json["edits"][0]["path"], "initializers/raw");
  EXPECT_EQ(json["edits"][0]["bin"], "initializers/raw.bin");
  EXPECT_TRUE(json["holder"].is_null());
  EXPECT_TRUE(json["problem"].is_null());
  EXPECT_GT(json["sidecar_bytes"], 0);
}

TEST_F(EditCommandsTest, StatusNamesWhoEdits) {
  write("raw", 0, "R");
  const auto writer = Sidecar::open(Model::open(path_), sidecar_folder(), "/mnt/point");
  writer->acquire();
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "Being edited by /mnt/point\n", output_of(status_command, {path_}));
  EXPECT_EQ(nlohmann::json::parse(output_of(status_command, {path_, "--json"}))["holder"], "/mnt/point");
}

TEST_F(EditCommandsTest, StatusSaysWhyEditsCannotBeListed) {
  write("raw", 0, "R");
  folder_.write("m/model.onnx", testing::model(testing::graph({testing::scalar("other")})).str());
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "onnxfs discard", output_of(status_command, {path_}, 1));
  EXPECT_FALSE(nlohmann::json::parse(output_of(status_command, {path_, "--json"}, 1))["problem"].is_null());
  EXPECT_ERROR(output_of(status_command, {folder_ / "none"}), ENOENT, folder_ / "none");
}

TEST_F(EditCommandsTest, DiscardDropsAllEdits) {
  edit_all();
  const std::string before = contents(path_);
  EXPECT_EQ(output_of(discard_command, {path_}), "The edits of " + path_ + " are gone\n");
  EXPECT_FALSE(has_sidecar());
  EXPECT_TRUE(contents(path_) == before);
  EXPECT_EQ(output_of(discard_command, {path_}), "Nothing is edited in " + path_ + "\n");
}

TEST_F(EditCommandsTest, DiscardNeedsNoModelThatFits) {
  write("raw", 0, "R");
  folder_.write("m/model.onnx", "no model");
  output_of(discard_command, {path_});
  EXPECT_FALSE(has_sidecar());
}

TEST_F(EditCommandsTest, DiscardDropsWhatIsNamed) {
  write("raw", 0, "R");
  write("v", 0, "V");
  EXPECT_ERROR(output_of(discard_command, {path_, "initializers/raw.bin", "initializers/none.bin"}), ENOENT,
               "initializers/none.bin");
  EXPECT_ERROR(output_of(discard_command, {path_, "initializers/large.bin"}), ENOENT,
               "initializers/large.bin is not edited");
  EXPECT_EQ(output_of(discard_command, {path_, "initializers/raw.bin"}), "initializers/raw is as it was\n");
  const auto left = edited_states();
  EXPECT_EQ(left[1].payload, "rrrrrrrr");
  EXPECT_EQ(left[6].payload, "Vvvvvvvv");
  output_of(discard_command, {path_, "initializers/v.json"});
  EXPECT_FALSE(has_sidecar());
}

TEST_F(EditCommandsTest, DiscardTakesPatternsOfWhichItDropsWhatIsEdited) {
  write("raw", 0, "R");
  write("v", 0, "V");
  EXPECT_ERROR(output_of(discard_command, {path_, "v", "l*"}), ENOENT, "l* is not edited");
  EXPECT_EQ(edited_states()[6].payload, "Vvvvvvvv") << "nothing is dropped when a pattern names nothing";
  EXPECT_EQ(output_of(discard_command, {path_, "initializers/*", "v"}),
            "initializers/raw is as it was\ninitializers/v is as it was\n");
  EXPECT_FALSE(has_sidecar());
}

TEST_F(EditCommandsTest, AFolderIsNoModel) {
  for (const auto command : {commit_command, discard_command}) {
    EXPECT_ERROR(output_of(command, {folder_.path()}), EISDIR, folder_.path() + " is a folder, not a model's file");
  }
  for (const auto command : {ls_command, stats_command, status_command}) {
    EXPECT_ERROR(output_of(command, {folder_.path()}), EISDIR, "neither a model's file nor a folder that a model is");
  }
}

TEST_F(EditCommandsTest, DiscardIsRefusedWhileTheEditsAreBeingMade) {
  write("raw", 0, "R");
  const auto writer = Sidecar::open(Model::open(path_), sidecar_folder(), "/mnt/point");
  writer->acquire();
  EXPECT_ERROR(output_of(discard_command, {path_}), EBUSY, "/mnt/point");
  EXPECT_ERROR(output_of(discard_command, {path_, "initializers/raw.bin"}), EBUSY, "/mnt/point");
}

TEST_F(EditCommandsTest, DiscardKeepsTheRedoLogOfACommitInPlace) {
  write("raw", 0, "R");
  Journal{Journal::Kind::in_place, 1, {{"model.onnx", files::file_size(path_), 0}}}.write(sidecar_folder(), disk_);
  EXPECT_ERROR(output_of(discard_command, {path_}), EINPROGRESS, "run onnxfs commit");
  EXPECT_TRUE(has_sidecar());
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "was interrupted", output_of(status_command, {path_}, 1));
}

TEST_F(EditCommandsTest, DiscardDropsAnInterruptedOrDamagedCommit) {
  write("raw", 0, "R");
  folder_.write("m/.w.bin.onnxfs-commit", "remains");
  const auto remains = status(folder_ / "m/.w.bin.onnxfs-commit");
  Journal{Journal::Kind::rename, 1, {{"w.bin", 7, remains.st_ino}}}.write(sidecar_folder(), disk_);
  output_of(discard_command, {path_});
  EXPECT_FALSE(has_sidecar());
  EXPECT_EQ(files_in(folder_ / "m").size(), 3U);
  // What the journal does not know is not that commit's.
  write("raw", 0, "R");
  folder_.write("m/.w.bin.onnxfs-commit", "another's");
  Journal{Journal::Kind::rename, 1, {{"w.bin", 7, 1}}}.write(sidecar_folder(), disk_);
  output_of(discard_command, {path_});
  EXPECT_EQ(testing::contents(folder_ / "m/.w.bin.onnxfs-commit"), "another's");
  write("raw", 0, "R");
  folder_.write("m/model.onnx.sidecar/commit.journal", "damaged");
  output_of(discard_command, {path_});
  EXPECT_FALSE(has_sidecar());
}

TEST_F(EditCommandsTest, PathsAreThoseOfTheMount) {
  const auto model = Model::open(path_);
  const Tree tree(model->catalog());
  const auto named = [&](const std::string& pattern) {
    return tensors_named(model->catalog(), tree, pattern, "the model");
  };
  using Tensors = std::vector<uint32_t>;
  for (const std::string suffix : {"", ".bin", ".json", ".npy"}) {
    EXPECT_EQ(named("initializers/raw" + suffix), (Tensors{1}));
    EXPECT_EQ(named("raw" + suffix), (Tensors{1}));
  }
  EXPECT_EQ(named("/initializers/w.bin"), (Tensors{4}));
  for (const std::string path : {"", "/", "initializers/raw.exe", "none/raw.bin"}) {
    EXPECT_ERROR(named(path), ENOENT, "the model has no tensor \"" + path + "\"");
  }
  EXPECT_ERROR(named("initialisers/raw"), ENOENT, "; did you mean initializers/raw?");
  EXPECT_ERROR(named("larg"), ENOENT, "; did you mean initializers/large?");
  EXPECT_ERROR(named("ext"), ENOENT, "; did you mean initializers/text?");
  EXPECT_ERROR(named("nothing.like.that"), ENOENT, "; `onnxfs ls` lists them");
}

TEST(TensorsNamed, AnExactPathComesFirst) {
  testing::TemporaryFolder folder;
  const auto one = [](const char* name) { return testing::scalar(name); };
  const auto graph =
      testing::graph({one("a"), one("a/b"), one("initializers/a"), one("/lead/w"), one("w*"), one("w1")});
  const auto model = Model::open(folder.write("m.onnx", testing::model(graph).str()));
  const Tree tree(model->catalog());
  const auto named = [&](const std::string& pattern) {
    return tensors_named(model->catalog(), tree, pattern, "the model");
  };
  using Tensors = std::vector<uint32_t>;
  EXPECT_EQ(named("initializers/a"), (Tensors{0, 1})) << "the tensor and the folder, not the name";
  EXPECT_EQ(named("initializers/a.bin"), (Tensors{0}));
  EXPECT_EQ(named("a"), (Tensors{0, 1}));
  EXPECT_EQ(named("initializers"), (Tensors{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(named("/lead/w"), (Tensors{3})) << "a name as the model has it";
  EXPECT_EQ(named("lead"), (Tensors{3}));
  EXPECT_EQ(named("initializers/w*"), (Tensors{4})) << "a path, and no glob";
  EXPECT_EQ(named("w?"), (Tensors{4, 5}));
}

TEST(MountTable, ListsTheMountsThatThereAre) {
  const auto table = read_mount_table();
  EXPECT_TRUE(std::ranges::any_of(
      table, [](const auto& entry) { return entry.mount_point == "/proc" && entry.type == "proc"; }));
  EXPECT_FALSE(find_writable_mount("/proc/self/exe"));
}

TEST(ProgressLine, SaysHowMuchHowFastAndHowLong) {
  EXPECT_EQ(progress_text("committing", 1'500'000'000, 6'000'000'000, 2),
            "committing: 1.5 of 6.0 GB, 750 MB/s, 6 s left");
  EXPECT_EQ(progress_text("x", 0, 10, 0), "x: 0.0 of 10.0 bytes, 0 bytes/s, 10 s left");
  EXPECT_EQ(progress_text("x", 12, 10, 1), "x: 12.0 of 10.0 bytes, 12 bytes/s, 0 s left");
}

}  // namespace
}  // namespace onnxfs
