#include "fs/folder_members.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "tests/unit/errors.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;

class FolderMembersTest : public ::testing::Test {
 protected:
  FolderMembersTest() {
    folder_.write("a.onnx", "model");
    folder_.write("b.pb", "values");
    folder_.write("notes.txt", "no model");
    folder_.write("sub/c.onnx", "model");
    folder_.folder("empty");
  }
  const FolderMember& root() const { return members_.member(0); }
  std::set<std::string> names(const FolderMember& folder) {
    std::set<std::string> result;
    for (const FolderMember* member : members_.list(folder)) {
      if (member == nullptr) continue;
      EXPECT_TRUE(result.insert(member->name).second) << member->name << " twice";
    }
    return result;
  }

  testing::TemporaryFolder folder_;
  FolderMembers members_{folder_.path(), "/elsewhere"};
};

TEST_F(FolderMembersTest, AreFoldersAndModelFiles) {
  EXPECT_EQ(names(root()), (std::set<std::string>{"a.onnx", "b.pb", "sub", "empty"}));
  const FolderMember* sub = members_.find(root(), "sub");
  ASSERT_TRUE(sub);
  EXPECT_EQ(sub->kind, FolderMember::Kind::folder);
  EXPECT_EQ(names(*sub), std::set<std::string>{"c.onnx"});
  const FolderMember* model = members_.find(*sub, "c.onnx");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->kind, FolderMember::Kind::model);
  EXPECT_EQ(model->path, "sub/c.onnx");
  EXPECT_EQ(model->parent, sub->number);
  EXPECT_EQ(members_.absolute_path(*model), folder_ / "sub/c.onnx");
  EXPECT_EQ(members_.absolute_path(root()), folder_.path());
  EXPECT_TRUE(names(*members_.find(root(), "empty")).empty());
}

TEST_F(FolderMembersTest, OthersAreNotThere) {
  for (const std::string name : {"notes.txt", "none", "none.onnx", "a.onn", ""}) {
    EXPECT_EQ(members_.find(root(), name), nullptr) << name;
  }
}

TEST_F(FolderMembersTest, SidecarsAreNotThere) {
  for (const char* name : {"a.onnx.sidecar", "gone.pb.sidecar", "my.sidecar", ".sidecar"}) folder_.folder(name);
  EXPECT_EQ(names(root()), (std::set<std::string>{"a.onnx", "b.pb", "sub", "empty", "my.sidecar", ".sidecar"}));
  EXPECT_EQ(members_.find(root(), "a.onnx.sidecar"), nullptr);
}

TEST_F(FolderMembersTest, DotsAreNoMembers) {
  EXPECT_EQ(members_.find(root(), "."), nullptr);
  EXPECT_EQ(members_.find(root(), ".."), nullptr);
}

TEST_F(FolderMembersTest, KeepTheirNumbersAndPlaces) {
  const auto before = members_.list(root());
  const FolderMember* model = members_.find(root(), "a.onnx");
  folder_.write("new.onnx", "another");
  files::remove(folder_ / "b.pb");
  const auto after = members_.list(root());
  ASSERT_EQ(after.size(), before.size() + 1);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(after[i] == before[i] || (before[i]->name == "b.pb" && after[i] == nullptr));
  }
  EXPECT_EQ(after.back()->name, "new.onnx");
  EXPECT_EQ(members_.find(root(), "a.onnx"), model);
  EXPECT_EQ(&members_.member(model->number), model);
  folder_.write("b.pb", "values");
}

TEST_F(FolderMembersTest, NumbersAreTheSameOnEachMount) {
  FolderMembers again(folder_.path(), "/elsewhere");
  std::map<std::string, uint32_t> numbers;
  for (const FolderMember* member : members_.list(root())) numbers[member->name] = member->number;
  for (const FolderMember* member : again.list(again.member(0))) EXPECT_EQ(numbers[member->name], member->number);
  for (const auto& [name, number] : numbers) {
    EXPECT_GE(number, FolderMembers::first_number);
    EXPECT_LE(number, FolderMembers::most_members);
  }
}

TEST_F(FolderMembersTest, AnotherFileUnderTheSameNameIsAnotherMember) {
  const FolderMember* before = members_.find(root(), "a.onnx");
  folder_.write("other", "another model");
  files::rename(folder_ / "other", folder_ / "a.onnx");
  const FolderMember* after = members_.find(root(), "a.onnx");
  ASSERT_TRUE(after);
  EXPECT_NE(before->number, after->number);
  EXPECT_EQ(members_.member(before->number).name, "a.onnx");
  const auto list = members_.list(root());
  EXPECT_EQ(std::ranges::count(list, before), 0);
  EXPECT_EQ(std::ranges::count(list, after), 1);
}

TEST_F(FolderMembersTest, FileThatWasWrittenToIsAnotherMember) {
  const uint32_t before = members_.find(root(), "a.onnx")->number;
  files::resize_file(folder_ / "a.onnx", 100);
  EXPECT_NE(members_.find(root(), "a.onnx")->number, before);
}

TEST_F(FolderMembersTest, LinksToModelsAreFollowedAndLinksToFoldersAreNot) {
  folder_.symlink("link.onnx", "sub/c.onnx");
  folder_.symlink("folder", "sub");
  folder_.symlink("folder.onnx", "sub");
  folder_.symlink("loop.onnx", "loop.onnx");
  folder_.symlink("dangling.onnx", "nothing");
  ASSERT_EQ(::mkfifo((folder_ / "fifo.onnx").c_str(), 0600), 0);
  EXPECT_EQ(names(root()), (std::set<std::string>{"a.onnx", "b.pb", "sub", "empty", "link.onnx"}));
  EXPECT_EQ(members_.find(root(), "folder"), nullptr);
  EXPECT_EQ(members_.find(root(), "fifo.onnx"), nullptr);
}

// What is asked of it would be asked of ourselves.
TEST_F(FolderMembersTest, MountPointInTheFolderIsPassedOver) {
  FolderMembers members(folder_.path(), folder_ / "sub");
  EXPECT_EQ(members.find(members.member(0), "sub"), nullptr);
  for (const FolderMember* member : members.list(members.member(0))) EXPECT_NE(member->name, "sub");
  folder_.folder("sub/deep");
  FolderMembers deeper(folder_.path(), folder_ / "sub/deep");
  const FolderMember* sub = deeper.find(deeper.member(0), "sub");
  ASSERT_TRUE(sub);
  EXPECT_EQ(deeper.find(*sub, "deep"), nullptr);
  EXPECT_TRUE(deeper.find(*sub, "c.onnx"));
}

TEST_F(FolderMembersTest, FolderNamedLikeAModelIsAFolder) {
  folder_.write("dir.onnx/inner.onnx", "model");
  EXPECT_EQ(members_.find(root(), "dir.onnx")->kind, FolderMember::Kind::folder);
  EXPECT_EQ(names(*members_.find(root(), "dir.onnx")), std::set<std::string>{"inner.onnx"});
}

TEST_F(FolderMembersTest, FolderThatVanishedIsAnError) {
  const FolderMember* sub = members_.find(root(), "sub");
  files::remove_all(folder_ / "sub");
  EXPECT_ERROR(members_.list(*sub), ENOENT, "sub");
  EXPECT_ERROR(members_.find(*sub, "c.onnx"), ENOENT, "sub");
  EXPECT_ERROR(members_.changed_at(*sub), ENOENT, "sub");
  folder_.symlink("sub", "empty");
  EXPECT_ERROR(members_.list(*sub), ENOENT, "sub");
}

TEST_F(FolderMembersTest, NumbersThatWereNeverGivenAreErrors) {
  EXPECT_ERROR(members_.member(1), ENOENT, "");
  EXPECT_ERROR(members_.member(FolderMembers::most_members), ENOENT, "");
  EXPECT_ERROR(members_.member(UINT32_MAX), ENOENT, "");
}

TEST_F(FolderMembersTest, FolderMustBeThere) {
  EXPECT_ERROR(FolderMembers(folder_ / "none", ""), ENOENT, folder_ / "none");
  EXPECT_ERROR(FolderMembers(folder_ / "a.onnx", ""), ENOTDIR, folder_ / "a.onnx");
}

TEST_F(FolderMembersTest, ChangeOfAFolderIsSeen) {
  const timespec before = members_.changed_at(root());
  timespec after = before;
  for (int i = 0; after.tv_sec == before.tv_sec && after.tv_nsec == before.tv_nsec && i < 10'000; ++i) {
    folder_.write("another.onnx", "");
    files::remove(folder_ / "another.onnx");
    after = members_.changed_at(root());
  }
  EXPECT_TRUE(after.tv_sec != before.tv_sec || after.tv_nsec != before.tv_nsec);
}

}  // namespace
}  // namespace onnxfs
