// Commits in place, and journals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sidecar/journal.h"
#include "tests/unit/commit_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::expect_states;

class CommitInPlaceTest : public testing::CommitTest {
 protected:
  // What can be done in place.
  void edit_some() {
    write("large", 1000, "edited");
    write("raw", 0, "RRR");
    write("w", 2, "WW");
  }
};

TEST_F(CommitInPlaceTest, PatchesTheFilesThatThereAre) {
  edit_some();
  const auto expected = edited_states();
  const struct stat model = status(path_), data = status(folder_ / "m/w.bin");
  const CommitReport report = commit_in_place();
  EXPECT_EQ(report.written, (std::vector<std::string>{folder_ / "m/w.bin", path_}));
  EXPECT_EQ(status(path_).st_ino, model.st_ino);
  EXPECT_EQ(status(folder_ / "m/w.bin").st_ino, data.st_ino);
  EXPECT_FALSE(has_sidecar());
  expect_states(path_, expected);
}

TEST_F(CommitInPlaceTest, WithoutEditsWritesNothing) {
  EXPECT_TRUE(commit_in_place().written.empty());
  EXPECT_FALSE(has_sidecar());
}

TEST_F(CommitInPlaceTest, WithoutEditsRemovesWhatIsLeftOfASidecar) {
  for (const bool in_place : {false, true}) {
    folder_.write("m/model.onnx.sidecar/lock", "");
    commit_model({.in_place = in_place});
    EXPECT_FALSE(has_sidecar());
    edit_some();
    edit([](Sidecar& sidecar, const auto&) {
      for (const auto& [tensor, edit] : sidecar.edits().snapshot()) sidecar.revert(tensor);
    });
    EXPECT_TRUE(commit_model({.in_place = in_place}).written.empty());
    EXPECT_FALSE(has_sidecar());
  }
  folder_.write("m/model.onnx.sidecar/lock", "");
  folder_.write("m/model.onnx.sidecar/notes.txt", "mine");
  commit_model();
  EXPECT_TRUE(files::exists(sidecar_folder() + "/lock")) << "such a folder may be anything";
}

TEST_F(CommitInPlaceTest, LeavesTheSidecarOfAnother) {
  folder_.write("m/model.onnx.sidecar/lock", "");
  const UniqueFd lock(::open((sidecar_folder() + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_ERROR(commit_model(), EBUSY, "are being made by");
  EXPECT_TRUE(has_sidecar());
}

TEST_F(CommitInPlaceTest, EditsThatChangeASizeOrTheStructureAreRefused) {
  replace("text", testing::string_bytes({"longer", "two"}));
  EXPECT_ERROR(commit_in_place(), EINVAL, "commit without --in-place");
  edit([](Sidecar& sidecar, const auto& places) { sidecar.revert(places.at("initializers/text")); });
  write("ints", 0, "12345678");
  EXPECT_ERROR(commit_in_place(), EINVAL, "commit without --in-place");
  EXPECT_FALSE(files::exists(sidecar_folder() + "/commit.journal"));
}

TEST_F(CommitInPlaceTest, FilesThatOthersSeeAreRefused) {
  edit_some();
  files::create_hard_link(folder_ / "m/w.bin", folder_ / "name");
  EXPECT_ERROR(commit_in_place(), EINVAL, "w.bin has 2 names (hard links), so it cannot be written in place");
  files::remove(folder_ / "name");
  files::create_hard_link(path_, folder_ / "name");
  EXPECT_ERROR(commit_in_place(), EINVAL, "model.onnx has 2 names (hard links)");
  files::remove(folder_ / "name");
  folder_.write("m/other.onnx", testing::model(testing::graph({in_file("o", "w.bin", 0)})).str());
  EXPECT_ERROR(commit_in_place(), EINVAL, "is used by");
  folder_.write("m/other.onnx", testing::model(testing::graph({in_file("o", "model.onnx", 0)})).str());
  EXPECT_ERROR(commit_in_place(), EINVAL, "model.onnx holds data of");
  files::remove(folder_ / "m/other.onnx");
  files::rename(folder_ / "m/w.bin", folder_ / "m/blob");
  folder_.symlink("m/w.bin", "blob");
  EXPECT_ERROR(commit_in_place(), EINVAL, "w.bin is reached by a symbolic link");
  EXPECT_EQ(contents(folder_ / "m/blob"), "headwwwwwwwwtail");
}

TEST_F(CommitInPlaceTest, LinkedModelIsRefused) {
  files::rename(path_, folder_ / "m/target");
  path_ = folder_.symlink("m/model.onnx", "target");
  write("raw", 0, "R");
  EXPECT_ERROR(commit_in_place(), EINVAL, "model.onnx is reached by a symbolic link");
}

TEST_F(CommitInPlaceTest, CostsTheEdits) {
  edit_some();
  struct Counter : Disk {
    using Disk::write;
    void write(int fd, std::span<const iovec> pieces, uint64_t offset, const std::string& path) override {
      for (const iovec& piece : pieces) bytes += piece.iov_len;
      Disk::write(fd, pieces, offset, path);
    }
    void copy(int, uint64_t, int, uint64_t, uint64_t, const std::string&) override { FAIL(); }
    uint64_t bytes = 0;
  } disk;
  commit_in_place(&disk);
  EXPECT_LT(disk.bytes, 2000U);
}

TEST_F(CommitInPlaceTest, MakesTheEditsDurableBeforeItSaysThatTheyWillBeDone) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto sidecar = Sidecar::open(Model::open(path_), sidecar_folder(), "a test", disk_);
    sidecar->write(1, 0, testing::bytes_of("R"));
    ::_exit(0);  // without a flush
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  struct Recorder : Disk {
    void flush(int, const std::string& path) override { flushed.push_back(files::path(path).extension()); }
    void flush_folder(const std::string&) override {}
    std::vector<std::string> flushed;
  } disk;
  commit_in_place(&disk);
  ASSERT_GE(disk.flushed.size(), 3U);
  EXPECT_EQ(disk.flushed[0], ".blob");
  EXPECT_EQ(disk.flushed[1], ".new");
  EXPECT_EQ(disk.flushed[2], ".onnx");
}

TEST_F(CommitInPlaceTest, InterruptedOneKeepsTheModelFromBeingEditedUntilItIsFinished) {
  edit_some();
  const auto expected = edited_states();
  Journal{Journal::Kind::in_place, 4, {{"w.bin", 16, 0}, {"model.onnx", files::file_size(path_), 0}}}.write(
      sidecar_folder(), Disk::real());
  std::string half = contents(path_);
  half.replace(half.find("rrrr"), 2, "RR");
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file << half;
  }
  EXPECT_ERROR(Sidecar::open(Model::open(path_), sidecar_folder(), "test"), EINPROGRESS, "onnxfs commit");
  EXPECT_ERROR(commit_to(folder_ / "out.onnx"), EINPROGRESS, "onnxfs commit");
  files::create_hard_link(path_, folder_ / "name");  // too late to matter
  const CommitReport report = commit_model();
  EXPECT_EQ(report.edits, 4U);
  EXPECT_EQ(report.remarks, (std::vector<std::string>{"a commit that was interrupted was finished"}));
  EXPECT_FALSE(has_sidecar());
  expect_states(path_, expected);
}

TEST_F(CommitInPlaceTest, FileOfAnotherSizeCannotBeFinished) {
  edit_some();
  Journal{Journal::Kind::in_place, 4, {{"w.bin", 15, 0}}}.write(sidecar_folder(), Disk::real());
  EXPECT_ERROR(commit_model(), ESTALE, "w.bin does not have the 15 bytes");
}

class JournalTest : public ::testing::Test {
 protected:
  std::string text() const { return contents(folder_ / "commit.journal"); }
  void put(const std::string& text) { folder_.write("commit.journal", text); }
  testing::TemporaryFolder folder_;
};

TEST_F(JournalTest, IsReadAsItWasWritten) {
  EXPECT_FALSE(Journal::read(folder_.path()));
  EXPECT_FALSE(Journal::read(folder_ / "missing"));
  const Journal journal{Journal::Kind::rename, 3, {{"sub/w.bin", 1, 2}, {"\xff/m\"x", UINT64_MAX, 4}}};
  folder_.write("commit.journal.new", "remains");
  journal.write(folder_.path(), Disk::real());
  const Journal found = Journal::read(folder_.path()).value();
  EXPECT_EQ(found.kind, journal.kind);
  EXPECT_EQ(found.edits, 3U);
  ASSERT_EQ(found.files.size(), 2U);
  EXPECT_EQ(found.files[1].path, "\xff/m\"x");
  EXPECT_EQ(found.files[1].size, UINT64_MAX);
  EXPECT_EQ(found.files[0].inode, 2U);
  Journal::remove(folder_.path(), Disk::real());
  EXPECT_FALSE(Journal::read(folder_.path()));
}

TEST_F(JournalTest, ThatIsDamagedIsAnError) {
  Journal{Journal::Kind::rename, 3, {{"w.bin", 1, 2}}}.write(folder_.path(), Disk::real());
  const std::string whole = text();
  for (size_t i = 0; i + 1 < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    put(changed);
    const auto error = testing::caught([&] { Journal::read(folder_.path()); });
    EXPECT_TRUE(error.code == EBADMSG || error.code == ENOTSUP) << changed;
    put(whole.substr(0, i));
    EXPECT_ERROR(Journal::read(folder_.path()), EBADMSG, "is damaged");
  }
}

TEST_F(JournalTest, OfAnotherVersionIsAnError) {
  put(R"({"format":2})");
  EXPECT_ERROR(Journal::read(folder_.path()), ENOTSUP, "another version");
}

TEST_F(JournalTest, ThatLeadsOutOfTheFolderIsAnError) {
  for (const std::string path : {"../x", "/etc/x", "a/../../x", "", "a/", ".", "a/./b"}) {
    Journal{Journal::Kind::rename, 1, {{path, 1, 2}}}.write(folder_.path(), Disk::real());
    EXPECT_ERROR(Journal::read(folder_.path()), EBADMSG, "leads elsewhere");
  }
}

}  // namespace
}  // namespace onnxfs
