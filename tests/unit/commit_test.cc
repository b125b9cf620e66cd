// A commit into the model's own files.
#include <gtest/gtest.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/sidecar/temporary_file.h"
#include "tests/unit/commit_fixture.h"
#include "tests/unit/random_model.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::CommitTest;
using testing::contents;
using testing::expect_states;
using testing::states;

TEST_F(CommitTest, PutsTheEditsIntoTheFilesAndEndsTheSidecar) {
  edit_all();
  const auto expected = edited_states();
  const CommitReport report = commit_model();
  EXPECT_EQ(report.edits, 6U);  // of which two are of one payload
  EXPECT_EQ(report.written, (std::vector<std::string>{folder_ / "m/w.bin", path_}));
  EXPECT_TRUE(report.remarks.empty());
  EXPECT_FALSE(has_sidecar());
  EXPECT_EQ(files_in(folder_ / "m"), (std::vector<std::string>{"model.onnx", "sub/v.bin", "w.bin"}));
  expect_states(path_, expected);
  EXPECT_EQ(contents(folder_ / "m/w.bin"), "headwwWWwwwwtail");
}

TEST_F(CommitTest, WithoutEditsWritesNothing) {
  const struct stat before = status(path_);
  const CommitReport report = commit_model();
  EXPECT_EQ(report.edits, 0U);
  EXPECT_TRUE(report.written.empty());
  EXPECT_EQ(status(path_).st_ino, before.st_ino);
  EXPECT_FALSE(has_sidecar());
}

TEST_F(CommitTest, LeavesTheModelAloneWhenOnlyDataFilesChange) {
  write("v", 0, "V");
  const struct stat before = status(path_);
  EXPECT_EQ(commit_model().written, (std::vector<std::string>{folder_ / "m/sub/v.bin"}));
  EXPECT_EQ(status(path_).st_ino, before.st_ino);
  EXPECT_EQ(contents(folder_ / "m/sub/v.bin"), "Vvvvvvvv");
}

TEST_F(CommitTest, LeavesDataFilesAloneWhenOnlyTheModelChanges) {
  write("raw", 0, "R");
  const struct stat before = status(folder_ / "m/w.bin");
  EXPECT_EQ(commit_model().written, (std::vector<std::string>{path_}));
  EXPECT_EQ(status(folder_ / "m/w.bin").st_ino, before.st_ino);
}

TEST_F(CommitTest, KeepsTheModeOfEachFile) {
  edit_all();
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  ASSERT_EQ(::chmod((folder_ / "m/w.bin").c_str(), 0604), 0);
  commit_model();
  EXPECT_EQ(status(path_).st_mode & 07777U, 0640U);
  EXPECT_EQ(status(folder_ / "m/w.bin").st_mode & 07777U, 0604U);
}

TEST_F(CommitTest, IsRefusedWhileTheEditsAreBeingMade) {
  write("raw", 0, "R");
  const auto writer = Sidecar::open(Model::open(path_), sidecar_folder(), "/mnt/point");
  writer->acquire();
  EXPECT_ERROR(commit_model(), EBUSY, "/mnt/point");
  EXPECT_ERROR(commit_to(folder_ / "out.onnx"), EBUSY, "/mnt/point");
}

TEST_F(CommitTest, OfAnotherModelThanTheEditsAreOfIsRefused) {
  write("raw", 0, "R");
  folder_.write("m/model.onnx", testing::model(testing::graph({testing::scalar("other")})).str());
  EXPECT_ERROR(commit_model(), ESTALE, "onnxfs discard");
  EXPECT_TRUE(has_sidecar());
}

TEST_F(CommitTest, ProgressGoesUpToAllOfIt) {
  edit_all();
  std::vector<std::pair<uint64_t, uint64_t>> calls;
  commit_model({.progress = [&](uint64_t done, uint64_t total) { calls.emplace_back(done, total); }});
  ASSERT_FALSE(calls.empty());
  EXPECT_TRUE(std::ranges::is_sorted(calls));
  EXPECT_EQ(calls.back().first, calls.back().second);
  EXPECT_EQ(calls.back().second, files::file_size(path_) + files::file_size(folder_ / "m/w.bin"));
}

TEST_F(CommitTest, StoppedByItsProgressLeavesAllAsItWas) {
  edit_all();
  const std::string before = contents(path_);
  const auto expected = edited_states();
  uint64_t calls = 0;
  const auto stop = [&](uint64_t, uint64_t) {
    if (++calls == 2) fail(EINTR, "stopped");
  };
  EXPECT_ERROR(commit_model({.progress = stop}), EINTR, "stopped");
  EXPECT_TRUE(contents(path_) == before);
  EXPECT_EQ(files_in(folder_ / "m"), (std::vector<std::string>{"model.onnx", "sub/v.bin", "w.bin"}));
  commit_model();
  expect_states(path_, expected);
}

// Writes other bytes than it was given.
class LyingDisk : public Disk {
 public:
  explicit LyingDisk(std::string_view about) : about_(about) {}
  using Disk::write;
  void write(int fd, std::span<const iovec> pieces, uint64_t offset, const std::string& path) override {
    Disk::write(fd, pieces, offset, path);
    if (path.find(about_) != path.npos) Disk::real().write(fd, testing::bytes_of("?"), offset, path);
  }
  void copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length,
            const std::string& path) override {
    Disk::copy(from, from_offset, to, to_offset, length, path);
    ++copies;
    if (path.find(about_) != path.npos) Disk::real().write(to, testing::bytes_of("?"), to_offset + length / 2, path);
  }
  int copies = 0;

 private:
  std::string about_;
};

TEST_F(CommitTest, BytesThatReadBackAsOthersAreAnError) {
  for (const std::string_view file : {"w.bin", "model.onnx.onnxfs-commit"}) {
    if (!has_sidecar()) edit_all();
    const std::string before = contents(path_);
    LyingDisk disk(file);
    EXPECT_ERROR(commit_model({}, &disk), EIO, "was read back, and is not what was written at offset");
    EXPECT_TRUE(contents(path_) == before);
    EXPECT_EQ(contents(folder_ / "m/w.bin"), "headwwwwwwwwtail");
    EXPECT_EQ(files_in(folder_ / "m").size(), 3U);
    EXPECT_TRUE(has_sidecar());
  }
}

TEST_F(CommitTest, LongRangesAreCopiedInsideTheKernel) {
  write("raw", 0, "R");
  LyingDisk disk("nothing");
  commit_model({}, &disk);
  EXPECT_EQ(disk.copies, 1);
}

// Between whose files the kernel copies nothing.
class FarDisk : public Disk {
 public:
  explicit FarDisk(int code) : code_(code) {}
  void copy(int, uint64_t, int, uint64_t, uint64_t, const std::string& path) override {
    fail(code_, "cannot copy into {}", path);
  }

 private:
  int code_;
};

TEST_F(CommitTest, WhatTheKernelDoesNotCopyIsReadAndWritten) {
  for (const int code : {EXDEV, EOPNOTSUPP, EINVAL}) {
    write_model();
    write("large", 5, "edited");
    const auto expected = edited_states();
    FarDisk disk(code);
    commit_model({}, &disk);
    expect_states(path_, expected);
  }
  write("large", 9, "edited");
  FarDisk disk(EIO);
  EXPECT_ERROR(commit_model({}, &disk), EIO, "cannot copy into");
}

TEST_F(CommitTest, RemainsOfKilledCommitsAreRemoved) {
  write("raw", 0, "R");
  for (const std::string name :
       {".model.onnx.onnxfs-commit", ".w.bin.onnxfs-commit", ".model.onnx.data.onnxfs-commit"}) {
    folder_.write("m/" + name, "remains");
  }
  commit_model();
  EXPECT_EQ(files_in(folder_ / "m"), (std::vector<std::string>{"model.onnx", "sub/v.bin", "w.bin"}));
}

TEST_F(CommitTest, FileThatALivingCommitIsWritingIsNotTaken) {
  edit_all();
  TemporaryFile living(path_, *FileSource::open(path_), {}, Disk::real());
  EXPECT_ERROR(commit_model(), EBUSY, "another process is writing");
  EXPECT_TRUE(files::exists(temporary_path(path_)));
}

TEST_F(CommitTest, TooLittleRoomIsFoundOutBeforeAnythingIsWritten) {
  // A hole takes no room, and is copied all the same.
  constexpr off_t huge = off_t{1} << 42;
  if (::truncate((folder_ / "m/w.bin").c_str(), huge) != 0) GTEST_SKIP() << "no such large files here";
  struct statvfs room;
  ASSERT_EQ(::statvfs(path_.c_str(), &room), 0);
  if (room.f_bavail > static_cast<uint64_t>(huge) / room.f_frsize) GTEST_SKIP() << "there is room";
  write("w", 0, "W");
  EXPECT_ERROR(commit_model(), ENOSPC, "4398046511104 bytes in");
  EXPECT_ERROR(commit_model(), ENOSPC, "--in-place");
  EXPECT_ERROR(commit_to(folder_.folder("other") + "/model.onnx"), ENOSPC, "write to another place");
  EXPECT_EQ(files_in(folder_ / "m").size(), 3U);
}

TEST_F(CommitTest, NamesThatLeaveNoRoomGetAShorterTemporaryOne) {
  const std::string long_path = folder_ / ("m/" + std::string(250, 'n') + ".pb");
  EXPECT_LE(files::path(temporary_path(long_path)).filename().string().size(), 255U);
  EXPECT_NE(temporary_path(long_path), temporary_path(folder_ / ("m/" + std::string(250, 'n') + ".py")));
  EXPECT_EQ(temporary_path("/a/b.onnx"), "/a/.b.onnx.onnxfs-commit");
}

TEST_F(CommitTest, TensorsInTheModelFileItselfAreCommittedWithIt) {
  const auto self = [](uint64_t offset) {
    return testing::model(
        testing::graph({testing::tensor("raw", 2, {4}).bytes(9, "abcd"),
                        testing::external(testing::tensor("own", 2, {4}),
                                          {{"location", "self.onnx"}, {"offset", fmt::format("{:04}", offset)}})}));
  };
  path_ = folder_.write("m/self.onnx", self(self(0).str().find("abcd")).str());
  write("own", 1, "XY");
  commit_model();
  const auto after = states(*Model::open(path_));
  EXPECT_EQ(after[0].payload, "aXYd");
  EXPECT_EQ(after[1].payload, "aXYd");
}

TEST_F(CommitTest, ValuesAreCommittedAsModelsAre) {
  path_ = folder_.write(
      "m/values.pb",
      testing::Message()
          .varint(2, 7)
          .packed(3, {1, 2})
          .message(5, testing::Message().varint(2, 1).message(3, testing::scalar("a")).message(3, testing::scalar("b")))
          .str());
  edit([](Sidecar& sidecar, const auto& places) {
    const auto stage = sidecar.stage();
    stage->write(0, testing::bytes_of(testing::int64_bytes({-7, 700})));
    sidecar.replace(places.at("values/keys"), *stage);
    sidecar.write(places.at("values/1"), 0, testing::bytes_of(testing::float_bytes({5})));
  });
  const auto expected = edited_states();
  commit_model();
  expect_states(path_, expected);
}

class RandomCommitTest : public CommitTest, public ::testing::WithParamInterface<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomCommitTest, ::testing::Range<uint64_t>(0, 40));

TEST_P(RandomCommitTest, PutsEveryEditIntoTheFiles) {
  testing::RandomModel random(GetParam());
  path_ = folder_.write("m/random.onnx", random.model().str());
  folder_.write("m/w.bin", random.data());
  const auto model = Model::open(path_);
  testing::RandomEdits edits(*model, GetParam());
  edits.edit_some(2);
  edit([&](Sidecar& sidecar, const auto&) {
    for (const auto& [index, edit] : edits.edits()) {
      if (edit->payload) {
        const auto stage = sidecar.stage();
        stage->write(0, testing::bytes_of(edit->payload->text()));
        sidecar.replace(index, *stage);
      }
      sidecar.annotate(index, edit->dims ? &*edit->dims : nullptr, edit->doc_string ? &*edit->doc_string : nullptr);
    }
  });
  commit_model();
  EXPECT_FALSE(has_sidecar());
  expect_states(path_, edits.expected());
}

// The model's entries stay as they are, so that nothing but what was edited changes.
TEST_F(CommitTest, ChecksumsOfDataFilesThatWereWrittenAreRemarked) {
  const auto with_checksum = [](std::string_view name, std::string_view location) {
    return external(testing::tensor(name, testing::type::uint8, {4}),
                    {{"location", std::string(location)}, {"checksum", std::string(40, '0')}});
  };
  const std::string bytes =
      testing::model(testing::graph({with_checksum("w", "w.bin"), with_checksum("v", "sub/v.bin")})).str();
  const std::string remark = "the checksum entries of w.bin in the model are those of what it was before";
  for (const bool in_place : {false, true}) {
    write_model();
    folder_.write("m/model.onnx", bytes);
    write("w", 0, "W");
    if (!in_place) {
      const auto remarks = commit_to(folder_.folder("out") + "/model.onnx").remarks;
      EXPECT_EQ(std::ranges::count(remarks, remark), 1);
    }
    EXPECT_EQ(commit_model({.in_place = in_place}).remarks, std::vector<std::string>{remark});
    EXPECT_EQ(contents(path_), bytes);
  }
  files::create_hard_link(folder_ / "m/w.bin", folder_ / "other-name");
  write("w", 0, "X");
  const auto moved = commit_model();
  ASSERT_EQ(moved.remarks.size(), 1u);
  EXPECT_NE(moved.remarks[0], remark) << "where the model names another file, it claims nothing of it";
}

}  // namespace
}  // namespace onnxfs
