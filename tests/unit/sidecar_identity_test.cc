#include <fcntl.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "core/sidecar/base.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;

// What tells that the edits are of the model that is there.
class SidecarIdentityTest : public testing::SidecarTest {
 protected:
  SidecarIdentityTest() {
    const auto sidecar = open();
    write(*sidecar, raw, 2, "XY");
    write(*sidecar, outside, 0, "EX");
    replace(*sidecar, strings, testing::string_payload({"1", "22"}));
    write(*sidecar, other, 0, "o");
  }

  void touch(const std::string& path, int64_t seconds = 1'000'000) {
    const timespec times[] = {{seconds, 5}, {seconds, 7}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  void change_model(const std::string& bytes) {
    folder_.write("model.onnx", bytes);
    touch(path_);
    model_ = Model::open(path_);
  }
  void expect_edits() {
    const auto sidecar = open();
    EXPECT_EQ(sidecar->payload(raw).text(), "01XY456789abcdef");
    EXPECT_EQ(sidecar->payload(tied).text(), "EXternal");
    EXPECT_EQ(sidecar->edits().size(), 5u);
  }
};

TEST_F(SidecarIdentityTest, TouchedModelKeepsItsEdits) {
  touch(path_);
  touch(folder_ / "w.bin");
  model_ = Model::open(path_);
  expect_edits();
  const std::string before = testing::contents(folder() + "/base.json");
  EXPECT_EQ(Base::read(folder())->require_same(*model_, folder()).any(), true);
  write(*open(), other, 0, "o");
  EXPECT_NE(testing::contents(folder() + "/base.json"), before);
  EXPECT_EQ(Base::read(folder())->require_same(*model_, folder()).any(), false) << "the times are taken over";
  expect_edits();
}

TEST_F(SidecarIdentityTest, CopiedOrRenamedModelKeepsItsEdits) {
  folder_.folder("copy");
  files::copy_file(path_, folder_ / "copy/renamed.onnx");
  files::copy_file(folder_ / "w.bin", folder_ / "copy/w.bin");
  files::copy(folder(), folder_ / "copy/renamed.onnx.sidecar");
  path_ = folder_ / "copy/renamed.onnx";
  model_ = Model::open(path_);
  expect_edits();
}

TEST_F(SidecarIdentityTest, ModelOfAnotherSizeIsRefused) {
  change_model(bytes("0123456789abcdef", "now documented"));
  EXPECT_ERROR(open(), ESTALE, "onnxfs discard");
  EXPECT_ERROR(open(), ESTALE, std::to_string(files::file_size(path_)));
}

TEST_F(SidecarIdentityTest, ModelOfAnotherStructureIsRefused) {
  std::string changed = bytes();
  changed[changed.find("other")] = 'O';
  change_model(changed);
  EXPECT_ERROR(open(), ESTALE, "beside the weights");
}

TEST_F(SidecarIdentityTest, RetrainedModelIsRefusedWhereItWasEdited) {
  change_model(bytes("!!23456789!!!!!!"));
  EXPECT_NO_THROW(open()) << "what was edited is as it was";
  change_model(bytes("012!456789abcdef"));
  EXPECT_ERROR(open(), ESTALE, "tensor raw");
  EXPECT_ERROR(open(), ESTALE, path_);
}

TEST_F(SidecarIdentityTest, BytesThatAreTheEditsOwnAreNoReasonToRefuse) {
  change_model(bytes("01XY456789abcdef"));
  expect_edits();
}

TEST_F(SidecarIdentityTest, RevertedEditsDoNotCount) {
  open()->revert(raw);
  change_model(bytes("012!456789abcdef"));
  EXPECT_EQ(open()->payload(raw).text(), "012!456789abcdef");
}

TEST_F(SidecarIdentityTest, DataFilesWithEditsHaveToBeThere) {
  const std::string data = folder_ / "w.bin";
  const auto reopen = [&] {
    model_ = Model::open(path_);
    return open();
  };
  folder_.write("w.bin", "external DATA....");
  touch(data);
  EXPECT_NO_THROW(reopen());
  folder_.write("w.bin", "EXternal data....");
  touch(data);
  EXPECT_NO_THROW(reopen()) << "that is the edit itself";
  folder_.write("w.bin", "eXternal data....");
  touch(data);
  EXPECT_ERROR(reopen(), ESTALE, "tensor outside");
  folder_.write("w.bin", "external data.... and more");
  EXPECT_ERROR(reopen(), ESTALE, "its data file w.bin was 17 bytes and is 26 now");
  files::remove(data);
  EXPECT_ERROR(reopen(), ESTALE, "w.bin, which cannot be read");
  EXPECT_ERROR(reopen(), ESTALE, "put it back, or drop the edits with onnxfs discard " + path_);
}

TEST_F(SidecarIdentityTest, DamagedOrForeignBaseIsNamed) {
  const std::string base = folder() + "/base.json";
  const std::string good = testing::contents(base);
  const auto expect = [&](const std::string& text, int code, const std::string& part) {
    std::ofstream(base, std::ios::trunc) << text;
    EXPECT_ERROR(open(), code, part);
    EXPECT_ERROR(open(), code, base);
  };
  expect("", EBADMSG, "damaged");
  expect("[]", EBADMSG, "damaged");
  expect("{}", EBADMSG, "damaged");
  expect(good.substr(0, good.size() / 2), EBADMSG, "damaged");
  std::string changed = good;
  changed.replace(changed.find("model.onnx"), 5, "Model");
  expect(changed, EBADMSG, "checksum");
  changed = good;
  changed.replace(changed.find("\"format\": 1"), 11, "\"format\": 2");
  expect(changed, ENOTSUP, "another version");
  std::ofstream(base, std::ios::trunc) << good;
  expect_edits();
}

TEST_F(SidecarIdentityTest, WithoutBaseThereAreNoEdits) {
  files::remove(folder() + "/base.json");
  std::ofstream(folder() + "/commit.journal") << "{}";
  EXPECT_EQ(open()->edits().size(), 0u);
  write(*open(), raw, 0, "!");
  EXPECT_EQ(reopened(raw), "!123456789abcdef");
  EXPECT_EQ(open()->edits().size(), 1u) << "what was left over has not come back";
}

TEST_F(SidecarIdentityTest, InterruptedCommitIsToBeFinishedFirst) {
  std::ofstream(folder() + "/commit.journal") << "{}";
  EXPECT_ERROR(open(), EINPROGRESS, "onnxfs commit " + path_);
  change_model(bytes("012!456789abcdef"));
  const auto sidecar = Sidecar::open(model_, folder(), "commit", Disk::real(), Opening::resuming);
  EXPECT_EQ(sidecar->payload(raw).text(), "01XY456789abcdef");
  sidecar->remove();
  EXPECT_FALSE(files::exists(folder()));
}

TEST_F(SidecarIdentityTest, StructureIsWhatIsNoPayload) {
  const std::string before = structure_hash(*model_);
  change_model(bytes("fedcba9876543210"));
  EXPECT_EQ(structure_hash(*model_), before);
  change_model(bytes("0123456789abcdef", "d"));
  EXPECT_NE(structure_hash(*model_), before);
}

class SidecarLockTest : public testing::SidecarTest {};

TEST_F(SidecarLockTest, OneWriterAndAnyNumberOfReaders) {
  EXPECT_EQ(sidecar_holder(folder()), "");
  auto first = open();
  write(*first, raw, 0, "x");
  EXPECT_EQ(sidecar_holder(folder()), "/mnt/test");
  const auto json = nlohmann::json::parse(testing::contents(folder() + "/lock"));
  EXPECT_EQ(json["pid"], ::getpid());
  const auto second = Sidecar::open(model_, folder(), "/mnt/second");
  EXPECT_EQ(second->payload(raw).text().substr(0, 2), "x1");
  EXPECT_ERROR(write(*second, raw, 0, "y"), EBUSY, "/mnt/test");
  EXPECT_ERROR(second->acquire(), EBUSY, "/mnt/test");
  EXPECT_ERROR(second->stage()->resize(4), EBUSY, "/mnt/test");
  EXPECT_ERROR(second->remove(), EBUSY, "/mnt/test");
  EXPECT_ERROR(remove_sidecar(folder()), EBUSY, "/mnt/test");
  write(*first, raw, 1, "z");
  first.reset();
  EXPECT_EQ(sidecar_holder(folder()), "");
  EXPECT_ERROR(write(*second, raw, 0, "y"), ESTALE, "remount");
  EXPECT_EQ(sidecar_holder(folder()), "") << "the lock is let go";
  write(*open(), raw, 0, "w");
  EXPECT_EQ(reopened(raw).substr(0, 3), "wz2");
}

// The edits of each path are its own, but one at a time is edited.
TEST_F(SidecarLockTest, OneWriterByWhateverPath) {
  folder_.symlink("link/model.onnx", path_);
  folder_.write("hard/w.bin", "external data....");
  files::create_hard_link(path_, folder_ / "hard/model.onnx");
  auto writer = open();
  write(*writer, raw, 0, "x");
  const auto expect_busy = [](Sidecar& sidecar) {
    EXPECT_ERROR(write(sidecar, raw, 0, "y"), EBUSY, "another path");
    EXPECT_EQ(sidecar_holder(sidecar.folder()), "") << "nothing is kept locked";
  };
  for (const char* path : {"link/model.onnx", "hard/model.onnx"}) {
    const auto model = Model::open(folder_ / path);
    const auto sidecar = Sidecar::open(model, sidecar_path(model->path()), "another");
    expect_busy(*sidecar);
    EXPECT_EQ(sidecar->payload(raw).text().substr(0, 2), "01") << "it can be read";
  }
  const auto elsewhere = Sidecar::open(model_, folder_ / "elsewhere", "another");
  expect_busy(*elsewhere);
  writer.reset();
  write(*elsewhere, raw, 0, "y");
  EXPECT_ERROR(write(*open(), raw, 0, "x"), EBUSY, "another path");
  elsewhere->remove();
  write(*open(), raw, 0, "z");
}

TEST_F(SidecarLockTest, EditsByAnotherSinceTheOpeningAreFoundOut) {
  const auto sidecar = open();
  write(*open(), raw, 0, "x");
  EXPECT_ERROR(write(*sidecar, raw, 1, "y"), ESTALE, "remount");
  const auto after = open();
  remove_sidecar(folder());
  EXPECT_ERROR(write(*after, raw, 1, "y"), ESTALE, "remount");
  EXPECT_EQ(reopened(raw).substr(0, 2), "01");
}

TEST_F(SidecarLockTest, ModelThatIsNoMoreWhatWasOpenedIsNotEdited) {
  const auto sidecar = open();
  folder_.write("new.onnx", bytes("fedcba9876543210"));
  files::rename(folder_ / "new.onnx", path_);
  EXPECT_ERROR(write(*sidecar, raw, 0, "x"), ESTALE, path_);
  EXPECT_FALSE(files::exists(folder() + "/base.json"));
}

TEST_F(SidecarLockTest, DataFileThatIsNoMoreWhatWasOpenedIsNotEdited) {
  const auto replace_data_file = [this](const std::string& bytes) {
    folder_.write("new.bin", bytes);
    files::rename(folder_ / "new.bin", folder_ / "w.bin");
  };
  for (const bool edited_before : {false, true}) {
    if (edited_before) {
      model_ = Model::open(path_);
      write(*open(), outside, 0, "EX");
    }
    const auto sidecar = open();
    replace_data_file("another data file");
    EXPECT_ERROR(write(*sidecar, outside, 1, "x"), ESTALE, "w.bin, a data file of " + path_);
    EXPECT_ERROR(replace(*sidecar, tied, "replaced"), ESTALE, "remount to edit it");
    files::remove(folder_ / "w.bin");
    EXPECT_ERROR(write(*sidecar, outside, 1, "x"), ESTALE, "w.bin");
    write(*sidecar, raw, 0, "r");
    replace_data_file("external data....");
  }
}

// As a download cache has them.
TEST_F(SidecarLockTest, DataFileBesideTheTargetOfALinkIsEdited) {
  folder_.symlink("elsewhere/model.onnx", path_);
  path_ = folder_ / "elsewhere/model.onnx";
  model_ = Model::open(path_);
  write(*open(), outside, 0, "EX");
  EXPECT_EQ(reopened(tied), "EXternal");
}

TEST_F(SidecarLockTest, TornTailUnderAWriterIsNoRemark) {
  const auto writer = open();
  write(*writer, raw, 0, "x");
  std::ofstream(blob(), std::ios::app) << "a record on its way";
  EXPECT_TRUE(open()->remarks().empty());
  EXPECT_EQ(reopened(raw).substr(0, 2), "x1");
}

}  // namespace
}  // namespace onnxfs
