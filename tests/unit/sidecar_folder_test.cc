// What else may be where a sidecar is to be.
#include <sys/stat.h>

#include "core/sidecar/discard.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/journal.h"
#include "tests/unit/sidecar_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;

class SidecarFolderTest : public testing::SidecarTest {
 protected:
  std::string in_folder(const std::string& name) const { return folder() + "/" + name; }
};

TEST_F(SidecarFolderTest, PlainFileIsNamed) {
  folder_.write("model.onnx.sidecar", "a file");
  const auto sidecar = open();
  EXPECT_EQ(sidecar->payload(raw).size(), 16u);
  EXPECT_ERROR(write(*sidecar, raw, 0, "x"), ENOTDIR, folder() + ", where edits are kept, is not a folder");
  EXPECT_ERROR(sidecar->remove(), ENOTDIR, "--sidecar");
  EXPECT_ERROR(discard_all(path_, folder()), ENOTDIR, folder());
  EXPECT_EQ(contents(folder()), "a file");
}

TEST_F(SidecarFolderTest, LinkToNothingIsNamed) {
  folder_.symlink("model.onnx.sidecar", folder_ / "nothing");
  const auto sidecar = open();
  EXPECT_ERROR(write(*sidecar, raw, 0, "x"), ENOENT, folder() + ", where edits are kept, is a link to nothing");
  EXPECT_ERROR(discard_all(path_, folder()), ENOENT, "is a link to nothing");
  EXPECT_TRUE(files::is_symlink(folder()));
}

TEST_F(SidecarFolderTest, LinkToAFolderStaysWhenTheEditsGo) {
  files::create_directory_symlink(folder_.folder("target"), folder());
  write(*open(), raw, 0, "x");
  EXPECT_EQ(reopened(raw).substr(0, 2), "x1");
  discard_all(path_, folder());
  EXPECT_TRUE(files::is_empty(folder_ / "target"));
}

TEST_F(SidecarFolderTest, LockThatIsNoFileIsNamed) {
  const auto expect_refusal = [this](int code) {
    EXPECT_ERROR(write(*open(), raw, 0, "x"), code, in_folder("lock") + " is not a regular file");
    EXPECT_EQ(sidecar_holder(folder()), "");
    files::remove(in_folder("lock"));
  };
  folder_.folder("model.onnx.sidecar/lock");
  expect_refusal(EISDIR);
  files::create_symlink("elsewhere", in_folder("lock"));
  expect_refusal(ELOOP);
  ASSERT_EQ(::mkfifo(in_folder("lock").c_str(), 0600), 0);
  expect_refusal(EISDIR);
}

TEST_F(SidecarFolderTest, BlobThatIsNoFileIsNamed) {
  folder_.folder("model.onnx.sidecar/00000001.blob");
  EXPECT_ERROR(write(*open(), raw, 0, "x"), EEXIST, blob() + " is in the way of the edits");
  files::remove(blob());
  write(*open(), raw, 0, "x");
  files::create_directory(blob(2));
  EXPECT_ERROR(open(), EISDIR, blob(2));
  discard_all(path_, folder());
  EXPECT_EQ(std::distance(files::directory_iterator(folder()), {}), 1) << "the way out leaves only what is not ours";
  EXPECT_TRUE(files::is_directory(blob(2)));
}

// Another program's file may well have such a name.
TEST_F(SidecarFolderTest, BlobsOfOthersAreLeftAlone) {
  for (const std::string text : {"precious", "onnxfs", "o"}) {
    folder_.write("model.onnx.sidecar/00000001.blob", text);
    const bool is_ours = text != "precious";  // the beginning of a blob's first bytes
    if (is_ours) {
      write(*open(), raw, 0, "x");
    } else {
      EXPECT_ERROR(write(*open(), raw, 0, "x"), EEXIST, "move it elsewhere");
      EXPECT_FALSE(files::exists(base_path(folder())));
    }
    if (is_ours) {
      discard_all(path_, folder());
      EXPECT_FALSE(files::exists(blob()));
    } else {
      EXPECT_ERROR(discard_all(path_, folder()), EINVAL, "did not make");
      EXPECT_EQ(contents(blob()), text);
      files::remove(blob());
    }
  }
}

TEST_F(SidecarFolderTest, AFolderOfSomebodyElseIsNotDiscarded) {
  const std::vector<std::string> names = {"base.json", "lock", "00000001.blob", "commit.journal"};
  for (const std::string& name : names) folder_.write("model.onnx.sidecar/" + name, R"({"log": "of a voyage"})");
  EXPECT_FALSE(has_edits(folder()));
  EXPECT_ERROR(open(), EBADMSG, "name another folder for edits with --sidecar");
  EXPECT_ERROR(discard_all(path_, folder()), EINVAL, "did not make");
  for (const std::string& name : names) EXPECT_EQ(contents(folder() + "/" + name), R"({"log": "of a voyage"})");
}

TEST_F(SidecarFolderTest, DamagedEditsAreEditsStill) {
  write(*open(), raw, 0, "x");
  EXPECT_TRUE(has_edits(folder()));
  std::ofstream(blob(), std::ios::trunc) << "damaged";
  EXPECT_TRUE(has_edits(folder()));
  discard_all(path_, folder());
  write(*open(), raw, 0, "x");
  std::ofstream(base_path(folder()), std::ios::trunc) << "damaged";
  EXPECT_TRUE(has_edits(folder()));
  discard_all(path_, folder());
  EXPECT_FALSE(files::exists(folder()));
}

TEST_F(SidecarFolderTest, PipesAreNotWaitedFor) {
  files::create_directory(folder());
  for (const char* name : {"base.json", "commit.journal", "00000001.blob"}) {
    ASSERT_EQ(::mkfifo(in_folder(name).c_str(), 0600), 0);
    EXPECT_FALSE(has_edits(folder())) << name;
    files::remove(in_folder(name));
  }
}

TEST_F(SidecarFolderTest, AnInterruptedCommitAloneIsASidecar) {
  files::create_directory(folder());
  Journal{Journal::Kind::rename, 1, {{"w.bin", 7, 1}}}.write(folder(), Disk::real());
  EXPECT_TRUE(has_edits(folder()));
  discard_all(path_, folder());
  EXPECT_FALSE(files::exists(folder()));
}

TEST_F(SidecarFolderTest, BlobsBesideABaseAreOurs) {
  write(*open(), raw, 0, "x");
  std::ofstream(blob(), std::ios::trunc) << "whatever is left of it";
  discard_all(path_, folder());
  EXPECT_FALSE(files::exists(folder()));
}

TEST_F(SidecarFolderTest, RemainsAreWhatARemovalLeaves) {
  EXPECT_FALSE(is_remains_of_sidecar(folder()));
  files::create_directory(folder());
  EXPECT_TRUE(is_remains_of_sidecar(folder()));
  for (const char* name : {"lock", "base.json.new", "commit.journal.new", "00000007.blob"}) {
    std::ofstream(in_folder(name)).flush();
    EXPECT_TRUE(is_remains_of_sidecar(folder())) << name;
  }
  for (const char* name : {"base.json", "commit.journal", "notes.txt", "7.blob"}) {
    std::ofstream(in_folder(name)).flush();
    EXPECT_FALSE(is_remains_of_sidecar(folder())) << name;
    files::remove(in_folder(name));
  }
  std::ofstream(in_folder("00000008.blob")) << "precious";
  EXPECT_FALSE(is_remains_of_sidecar(folder()));
}

}  // namespace
}  // namespace onnxfs
