// What exports and commits do to files that are somebody else's: those that appear while they write, those that another
// process is writing, those that they read, and those that are not what they seem.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <functional>

#include "core/sidecar/temporary_file.h"
#include "tests/unit/export_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::FaultyDisk;
using testing::graph;
using testing::states;
using testing::tensor;
namespace type = testing::type;

// Somebody else who is quick: does something after a file was made, or before one gets its name.
class MeddledDisk : public FaultyDisk {
 public:
  std::function<void(const std::string&)> after_create, before_rename;

  UniqueFd create(const std::string& path, mode_t mode) override {
    UniqueFd fd = FaultyDisk::create(path, mode);
    if (after_create) after_create(path);
    return fd;
  }
  void rename(const std::string& from, const std::string& to) override {
    if (before_rename) before_rename(to);
    FaultyDisk::rename(from, to);
  }
  void rename_new(const std::string& from, const std::string& to) override {
    if (before_rename) before_rename(to);
    FaultyDisk::rename_new(from, to);
  }
};

class NewFilesTest : public testing::ExportFixture {
 protected:
  using Work = std::function<void(FaultyDisk&)>;

  void clear() {
    files::remove_all(folder_ / "out");
    folder_.folder("out");
  }

  // That an error comes of it, and that nothing is there but what somebody else put there.
  void expect_left_alone(const Work& work, int code, const std::string& part, const std::vector<std::string>& names) {
    FaultyDisk whole, old;
    old.lack_new_renames();
    for (FaultyDisk* disk : {&whole, &old}) {
      clear();
      EXPECT_ERROR(work(*disk), code, part);
      EXPECT_EQ(written(), names);
      for (const std::string& name : names) EXPECT_EQ(contents(folder_ / ("out/" + name)), "precious");
    }
  }

  // At the end, when all is written and nothing is renamed.
  Progress at_the_end(std::function<void()> something) {
    return [something = std::move(something), done_already = false](uint64_t done, uint64_t total) mutable {
      if (done == total && !std::exchange(done_already, true)) something();
    };
  }

  std::vector<std::string> in_model_folder() const { return files_in(folder_ / "m"); }
};

TEST_F(NewFilesTest, FileThatAppearsMeanwhileIsNotReplaced) {
  for (const std::string name : {"new.onnx", "d"}) {
    const Work work = [&](FaultyDisk& disk) {
      run(out(), {}, "d", &disk, at_the_end([&] { folder_.write("out/" + name, "precious"); }));
    };
    expect_left_alone(work, EEXIST, "out/" + name + " appeared while it was being written", {name});
  }
  const Work work = [&](FaultyDisk& disk) {
    run_safetensors(disk, at_the_end([&] { folder_.write("out/new.onnx", "precious"); }));
  };
  expect_left_alone(work, EEXIST, "out/new.onnx appeared", {"new.onnx"});
}

TEST_F(NewFilesTest, NorByACommitToAnOutput) {
  edit_all();
  for (const std::string name : {"new.onnx", "w.bin"}) {
    const Work work = [&](FaultyDisk& disk) {
      commit_model({.output = out(), .progress = at_the_end([&] { folder_.write("out/" + name, "precious"); })}, &disk);
    };
    expect_left_alone(work, EEXIST, "out/" + name + " appeared while it was being written", {name});
  }
}

TEST_F(NewFilesTest, TemporaryFileThatIsTakenAwayIsMissedAndNothingElseRemoved) {
  const std::string temporary = folder_ / "out/.new.onnx.onnxfs-commit";
  const Work vanished = [&](FaultyDisk& disk) {
    run(out(), {}, "d", &disk, at_the_end([&] {
          files::remove(temporary);
          folder_.write("out/new.onnx", "precious");
        }));
  };
  expect_left_alone(vanished, ESTALE, "was removed or replaced", {"new.onnx"});
  const Work replaced = [&](FaultyDisk& disk) {
    run(out(), {}, "d", &disk, at_the_end([&] {
          files::remove(temporary);
          folder_.write("out/.new.onnx.onnxfs-commit", "precious");
        }));
  };
  expect_left_alone(replaced, ESTALE, "was removed or replaced", {".new.onnx.onnxfs-commit"});

  clear();
  MeddledDisk disk;
  disk.before_rename = [&](const std::string& to) {
    if (to != out()) return;
    files::remove(temporary);
    folder_.write("out/new.onnx", "precious");
  };
  EXPECT_NE(testing::caught([&] { run(out(), {}, "d", &disk); }).code, 0);
  EXPECT_EQ(written(), std::vector<std::string>{"new.onnx"});
  EXPECT_EQ(contents(out()), "precious");
}

TEST_F(NewFilesTest, CommitPutsNothingElseInPlace) {
  edit_all();
  const auto before = states(*Model::open(path_));
  const auto expected = edited_states();
  const Progress swap = at_the_end([&] {
    files::remove(folder_ / "m/.w.bin.onnxfs-commit");
    folder_.write("m/.w.bin.onnxfs-commit", "not the data");
  });
  EXPECT_ERROR(commit_model({.progress = swap}), ESTALE, "was removed or replaced");
  testing::expect_states(path_, before);
  commit_model();
  testing::expect_states(path_, expected);
}

TEST_F(NewFilesTest, OfTwoAtOnceTheSecondIsRefused) {
  edit_all();
  const auto expected = edited_states();
  const Progress second = at_the_end([&] {
    EXPECT_ERROR(run(out()), EBUSY, "another process is writing");
    EXPECT_ERROR(run_safetensors(disk_), EBUSY, "another process is writing " + out());
    EXPECT_ERROR(commit_to(out()), EBUSY, "another process is writing");
    EXPECT_ERROR(run(folder_ / "out/third.onnx"), EBUSY, "another process is writing " + (folder_ / "out/d"));
  });
  run(out(), {}, "d", nullptr, second);
  testing::expect_states(out(), expected);
  EXPECT_EQ(written(), (std::vector<std::string>{"d", "new.onnx"}));
}

TEST_F(NewFilesTest, DataFileThatAnotherHasYetToNameIsNotTakenForFinished) {
  MeddledDisk disk;
  disk.before_rename = [&](const std::string& to) {
    if (to == out()) EXPECT_ERROR(run(folder_ / "out/third.onnx"), EBUSY, "another process is writing");
  };
  run(out(), {}, "d", &disk);
  run(folder_ / "out/third.onnx");
  testing::expect_states(folder_ / "out/third.onnx", states(*Model::open(path_)));
}

TEST_F(NewFilesTest, FileThatAnotherTookForRemainsIsMadeAnew) {
  const std::string temporary = folder_ / "out/.d.onnxfs-commit";
  UniqueFd others;
  MeddledDisk disk;
  disk.after_create = [&](const std::string& path) {
    if (path != temporary || others) return;
    files::remove(path);
    others = Disk::real().create(path, 0600);
    ASSERT_EQ(::flock(others.get(), LOCK_EX | LOCK_NB), 0);
  };
  EXPECT_ERROR(run(out(), {}, "d", &disk), EBUSY, "another process is writing");
  EXPECT_EQ(written(), std::vector<std::string>{".d.onnxfs-commit"});
  others.reset();

  bool once = false;
  disk.after_create = [&](const std::string& path) {
    if (!std::exchange(once, true)) files::remove(path);
  };
  run(out(), {}, "d", &disk);
  EXPECT_EQ(written(), (std::vector<std::string>{"d", "new.onnx"}));
}

TEST_F(NewFilesTest, InputsAreNeverTakenForRemains) {
  path_ = folder_.write("out/.new.onnx.onnxfs-commit",
                        testing::model(graph({
                                           tensor("raw", type::uint8, {8}).bytes(9, "rrrrrrrr"),
                                       }))
                            .str());
  const std::string before = contents(path_);
  EXPECT_ERROR(run(out()), EINVAL, "is to be read");
  EXPECT_ERROR(run_safetensors(disk_), EINVAL, "is to be read");
  EXPECT_ERROR(commit_to(out()), EINVAL, "is to be read");
  EXPECT_TRUE(contents(path_) == before);
  EXPECT_EQ(written(), std::vector<std::string>{".new.onnx.onnxfs-commit"});

  // A data file, by another of its names.
  clear();
  path_ = folder_ / "m/model.onnx";
  files::create_hard_link(folder_ / "m/w.bin", folder_ / "out/.d.onnxfs-commit");
  EXPECT_ERROR(run(out()), EINVAL, "out/.d.onnxfs-commit is to be read");
  EXPECT_EQ(written(), std::vector<std::string>{".d.onnxfs-commit"});
}

TEST_F(NewFilesTest, NorByACommit) {
  folder_.write("m/.w.bin.onnxfs-commit", "headwwwwwwwwtail");
  folder_.write("m/model.onnx",
                testing::model(graph({in_file("w", "w.bin", 4), in_file("t", ".w.bin.onnxfs-commit", 4)})).str());
  write("w", 0, "W");
  EXPECT_ERROR(commit_model(), EINVAL, ".w.bin.onnxfs-commit is to be read");
  EXPECT_EQ(contents(folder_ / "m/.w.bin.onnxfs-commit"), "headwwwwwwwwtail");
}

TEST_F(NewFilesTest, OnlyRegularFilesAreRemains) {
  const std::string temporary = folder_ / "out/.new.onnx.onnxfs-commit";
  const auto expect_refused = [&] {
    EXPECT_ERROR(run(out()), EEXIST, temporary + " is no regular file");
    EXPECT_EQ(files::symlink_status(temporary).type() != files::file_type::not_found, true);
    files::remove(temporary);
  };
  folder_.symlink("out/.new.onnx.onnxfs-commit", "../m/w.bin");
  expect_refused();
  files::create_directory(temporary);
  expect_refused();
  ASSERT_EQ(::mkfifo(temporary.c_str(), 0600), 0);
  expect_refused();
  EXPECT_EQ(contents(folder_ / "m/w.bin"), "headwwwwwwwwtail");
  EXPECT_TRUE(written().empty());
}

TEST_F(NewFilesTest, DataFilesLieWhereReadersLookForThem) {
  folder_.folder("out/sub");
  folder_.folder("elsewhere");
  folder_.symlink("out/up", "../elsewhere");
  folder_.symlink("out/sub/up", folder_ / "elsewhere");
  folder_.symlink("out/in", folder_ / "out/sub");
  folder_.symlink("out/self", ".");
  for (const char* location : {"up/d", "sub/up/d", "in/up/d", "up/none/d"}) {
    EXPECT_ERROR(run(out(), {}, location), EINVAL, "a link in it leads out of");
  }
  EXPECT_ERROR(run(out(), {}, "self/new.onnx"), EINVAL, "both the model and its data file");
  EXPECT_TRUE(files::is_empty(folder_ / "elsewhere"));
  EXPECT_FALSE(files::exists(out()));
  run(out(), {}, "in/d");
  testing::expect_states(out(), states(*Model::open(path_)));
}

TEST_F(NewFilesTest, NamesThatMeanSomethingElseAreRefused) {
  folder_.folder("out/new.onnx.sidecar");
  folder_.symlink("out/self", ".");
  for (const char* location :
       {"new.onnx.sidecar", "new.onnx.sidecar/d", "new.onnx.sidecar/lock", "self/new.onnx.sidecar/d"}) {
    EXPECT_ERROR(run(out(), {}, location), EINVAL, "is where edits of");
  }
  for (const char* location : {".new.onnx.onnxfs-commit", ".d.onnxfs-commit", "self/.x.onnxfs-commit"}) {
    EXPECT_ERROR(run(out(), {}, location), EINVAL, "is for files while they are written");
  }
  for (const std::string& output : {path_ + ".sidecar", path_ + ".sidecar/new.onnx"}) {
    EXPECT_ERROR(run(output), EINVAL, "is where edits of " + path_ + " are kept");
    EXPECT_ERROR(commit_to(output), EINVAL, "is where edits of");
  }
  EXPECT_ERROR(run(folder_ / "m/.model.onnx.onnxfs-commit"), EINVAL, "is for files while they are written");
  EXPECT_ERROR(commit_to(folder_ / "m/.model.onnx.onnxfs-commit"), EINVAL, "is for files while they are written");
  EXPECT_EQ(in_model_folder(), (std::vector<std::string>{"model.onnx", "sub/v.bin", "w.bin"}));
  EXPECT_TRUE(written().empty());
}

TEST_F(NewFilesTest, DataFileOfThatContentIsTakenAsItIs) {
  run(out());
  files::remove(out());
  const ino_t inode = status(folder_ / "out/d").st_ino;
  run(out());
  EXPECT_EQ(status(folder_ / "out/d").st_ino, inode);
  testing::expect_states(out(), states(*Model::open(path_)));
  // But not one of the model's own, which a commit of that would change.
  path_ = out();
  EXPECT_ERROR(run(folder_ / "out/copy.onnx"), EEXIST, "out/d is there already");
  // Nor a link.
  path_ = folder_ / "m/model.onnx";
  files::rename(folder_ / "out/d", folder_ / "out/target");
  folder_.symlink("out/d", "target");
  EXPECT_ERROR(run(folder_ / "out/copy.onnx"), EEXIST, "out/d is there already");
}

}  // namespace
}  // namespace onnxfs
