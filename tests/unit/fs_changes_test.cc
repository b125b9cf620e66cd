// Editing a model through its file system, without a kernel.
#include "tests/unit/filesystem_fixture.h"

#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace onnxfs {
namespace {

using testing::external;
using testing::FilesystemTest;
using testing::graph;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

using Json = nlohmann::ordered_json;

std::string framed(const std::string& text) {
  std::string bytes(4, '\0');
  bytes[0] = static_cast<char>(text.size());
  return bytes.append(text);
}

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

class ChangesTest : public FilesystemTest {
 protected:
  static constexpr pid_t us = 100, child = 101;

  ChangesTest() {
    folder_.write("w.bin", "01234567");
    reopen();
  }

  void reopen(bool writable = true) {
    open(testing::model(graph({
             tensor("a", type::uint8, {8}).bytes(9, "abcdefgh"),
             tensor("dir/strings", type::string, {2}).bytes(6, "one").bytes(6, "two"),
             external(tensor("tied", type::uint8, {8}), {{"location", "w.bin"}}),
             external(tensor("same", type::uint8, {2, 4}), {{"location", "w.bin"}}),
             external(tensor("partly", type::uint8, {4}), {{"location", "w.bin"}, {"offset", "2"}}),
             external(tensor("alone", type::uint8, {4}), {{"location", "v.bin"}}),
             tensor("broken", type::float32, {3}).bytes(9, "1234"),
             tensor("unknown", 99, {3}).bytes(9, "123"),
             tensor("late", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300)),
             tensor("ints", type::int64, {3}).packed(7, {1, 2, 3}),
         })),
         {1000, 2000, 0, writable});
    files_->watch({[this](uint64_t inode) { changed_.insert(inode); }, [](uint64_t) {}, [] {}});
  }

  static std::string bin(const std::string& name) { return "initializers/" + name + ".bin"; }
  static std::string json(const std::string& name) { return "initializers/" + name + ".json"; }

  std::unique_ptr<OpenFile> opened(const std::string& path, int flags, pid_t process = us) {
    auto file = files_->open(inode(path), flags);
    file->opener = process;
    return file;
  }

  void replace(const std::string& path, std::string_view text) {
    const auto file = opened(path, O_WRONLY | O_TRUNC);
    file->write(0, bytes(text));
    file->closed_by(us);
  }

  // A scratch file beside the tensors, with content.
  void make_scratch(const std::string& name, std::string_view text) {
    const auto made = files_->create(inode("initializers"), name, 0640, O_WRONLY);
    made.file->write(0, bytes(text));
    made.file->closed_by(us);
  }
  void rename(const std::string& name, const std::string& new_name, bool replaces = true) {
    files_->rename(inode("initializers"), name, inode("initializers"), new_name, replaces);
  }

  std::set<uint64_t> changed_;
};

TEST_F(ChangesTest, WritesChangeATensorInPlace) {
  const auto reader = opened(bin("a"), O_RDONLY);
  {
    const auto writer = opened(bin("a"), O_RDWR);
    EXPECT_FALSE(writer->direct);
    writer->write(2, bytes("XY"));
    EXPECT_EQ(writer->content().text(), "abXYefgh");
    writer->write(6, bytes("ZZ"));
    EXPECT_NO_THROW(writer->closed_by(us));
  }
  EXPECT_EQ(reader->content().text(), "abXYefZZ") << "those who have it open see it too";
  EXPECT_EQ(content(bin("a")), "abXYefZZ");
  EXPECT_EQ(Json::parse(content(json("a")))["edited"], true);
  EXPECT_EQ(find(bin("a")).attributes.st_size, 8);
}

TEST_F(ChangesTest, WritesPastTheEndWriteNothing) {
  const auto writer = opened(bin("a"), O_WRONLY);
  EXPECT_ERROR(writer->write(7, bytes("XY")), EFBIG, "past the end");
  EXPECT_ERROR(writer->write(8, bytes("X")), EFBIG, "");
  EXPECT_ERROR(writer->write(UINT64_MAX, bytes("XY")), EFBIG, "");
  EXPECT_EQ(content(bin("a")), "abcdefgh");
}

TEST_F(ChangesTest, FilesThatAreReadAreNotWritten) {
  const auto reader = opened(bin("a"), O_RDONLY);
  EXPECT_ERROR(reader->write(0, bytes("X")), EBADF, "");
  EXPECT_ERROR(reader->resize(8), EBADF, "");
  EXPECT_ERROR(opened("model.json", O_RDONLY)->write(0, bytes("X")), EBADF, "");
}

TEST_F(ChangesTest, SizesStay) {
  const auto writer = opened(bin("a"), O_RDWR);
  EXPECT_NO_THROW(writer->resize(8));
  EXPECT_ERROR(writer->resize(7), EINVAL, "8 bytes");
  EXPECT_ERROR(writer->resize(0), EINVAL, "");
  EXPECT_NO_THROW(files_->resize(inode(bin("a")), 8));
  EXPECT_ERROR(files_->resize(inode(bin("a")), 9), EINVAL, "8 bytes");
  EXPECT_ERROR(files_->resize(inode("initializers"), 0), EISDIR, "");
  EXPECT_ERROR(files_->resize(inode("model.json"), 0), EROFS, "");
  EXPECT_TRUE(sidecar_->edits().snapshot().empty());
}

TEST_F(ChangesTest, AReplacementTakesEffectWhenItsSizeIsRight) {
  const auto writer = opened(bin("a"), O_RDWR | O_TRUNC);
  EXPECT_EQ(writer->own_size(), 0u);
  writer->write(0, bytes("1234"));
  EXPECT_EQ(writer->own_size(), 4u);
  EXPECT_EQ(writer->content().text(), "1234");
  EXPECT_EQ(content(bin("a")), "abcdefgh") << "to others it is as it was";
  EXPECT_EQ(find(bin("a")).attributes.st_size, 8);
  EXPECT_EQ(find(bin("a")).attributes_valid, 0) << "the kernel has told itself another size";
  writer->write(4, bytes("5678"));
  EXPECT_EQ(content(bin("a")), "abcdefgh");
  writer->closed_by(us);
  EXPECT_EQ(content(bin("a")), "12345678");
  EXPECT_EQ(writer->own_size(), std::nullopt);
  writer->write(0, bytes("X"));
  EXPECT_EQ(content(bin("a")), "X2345678") << "after it, writes are in place";
}

TEST_F(ChangesTest, AReplacementOfAnotherSizeIsDropped) {
  auto writer = opened(bin("a"), O_WRONLY | O_TRUNC);
  writer->write(0, bytes("1234567"));
  EXPECT_ERROR(writer->closed_by(us), EINVAL, "7 bytes");
  EXPECT_EQ(content(bin("a")), "abcdefgh");
  EXPECT_FALSE(opened(bin("a"), O_RDONLY)->keep_cache) << "the kernel may have cached bytes of it";
  writer.reset();
  EXPECT_FALSE(opened(bin("a"), O_RDONLY)->keep_cache);
  EXPECT_TRUE(opened(bin("a"), O_RDONLY)->keep_cache);
  EXPECT_EQ(content(bin("a")), "abcdefgh");
}

TEST_F(ChangesTest, AChildThatClosesItsCopyIsNotTheEnd) {
  const auto shell = opened(bin("a"), O_WRONLY | O_TRUNC);
  EXPECT_ERROR(shell->closed_by(us), EINVAL, "");  // the shell has made a copy of the descriptor
  shell->write(0, bytes("1234"));
  EXPECT_NO_THROW(shell->closed_by(child));
  EXPECT_EQ(shell->own_size(), 4u);
  shell->write(4, bytes("5678"));
  EXPECT_NO_THROW(shell->closed_by(child));
  EXPECT_EQ(content(bin("a")), "12345678");
  EXPECT_NO_THROW(shell->closed_by(us));
}

TEST_F(ChangesTest, AReplacementGrowsByZerosButNotPastTheTensor) {
  const auto writer = opened(bin("a"), O_WRONLY | O_TRUNC);
  writer->write(2, bytes("x"));
  writer->resize(8);
  EXPECT_EQ(writer->content().text(), std::string("\0\0x\0\0\0\0\0", 8));
  EXPECT_ERROR(writer->resize(9), EFBIG, "8 bytes");
  EXPECT_ERROR(writer->closed_by(us), EINVAL, "refused");  // a change was refused
  EXPECT_EQ(content(bin("a")), "abcdefgh");
}

TEST_F(ChangesTest, AReplacementWithARefusedWriteChangesNothing) {
  auto writer = opened(bin("a"), O_WRONLY | O_TRUNC);
  writer->write(0, bytes("12345678"));
  EXPECT_ERROR(writer->write(8, bytes("9")), EFBIG, "");
  EXPECT_ERROR(writer->closed_by(us), EINVAL, "refused");
  writer.reset();
  EXPECT_EQ(content(bin("a")), "abcdefgh");
  replace(bin("a"), "12345678");
  EXPECT_EQ(content(bin("a")), "12345678");
}

TEST_F(ChangesTest, ASecondTruncationBeginsAnew) {
  const auto first = opened(bin("a"), O_WRONLY | O_TRUNC);
  first->write(0, bytes("123456789").first(8));
  EXPECT_ERROR(first->write(8, bytes("9")), EFBIG, "");
  const auto second = opened(bin("a"), O_WRONLY | O_TRUNC, child);
  EXPECT_EQ(first->own_size(), 0u);
  second->write(0, bytes("ABCDEFGH"));
  second->closed_by(child);
  EXPECT_EQ(content(bin("a")), "ABCDEFGH");
  EXPECT_NO_THROW(first->closed_by(us));
}

TEST_F(ChangesTest, StringsAreReplacedAsAWhole) {
  const std::string longer = framed("eins") + framed("zwei und drei");
  replace(bin("dir/strings"), longer);
  EXPECT_EQ(content(bin("dir/strings")), longer);
  EXPECT_EQ(find(bin("dir/strings")).attributes.st_size, static_cast<off_t>(longer.size()));
  EXPECT_EQ(find(bin("dir/strings")).attributes_valid, 0);
  EXPECT_EQ(Json::parse(content(json("dir/strings")))["nbytes"], longer.size());
  EXPECT_ERROR(replace(bin("dir/strings"), framed("one")), EINVAL, "1 strings were written, and the tensor has 2");
  EXPECT_ERROR(replace(bin("dir/strings"), framed("1") + framed("2") + framed("3")), EINVAL, "3 strings");
  EXPECT_ERROR(replace(bin("dir/strings"), "one, two"), EINVAL, "no list of strings");
  EXPECT_EQ(content(bin("dir/strings")), longer);
}

TEST_F(ChangesTest, TheJsonTakesAShapeAndADocString) {
  Json text = Json::parse(content(json("a")));
  text["shape"] = {2, 4};
  text["doc_string"] = "new";
  replace(json("a"), text.dump());
  const Json now = Json::parse(content(json("a")));
  EXPECT_EQ(now["shape"], (Json{2, 4}));
  EXPECT_EQ(now["doc_string"], "new");
  EXPECT_EQ(now["edited"], true);
  EXPECT_EQ(files_->attribute(inode(bin("a")), "user.onnx.shape"), "[2,4]");
  EXPECT_TRUE(opened(json("a"), O_RDONLY)->direct) << "its size is not what the kernel was told";
  text["nbytes"] = 9;
  EXPECT_ERROR(replace(json("a"), text.dump()), EINVAL, "nbytes");
  EXPECT_ERROR(replace(json("a"), "not json"), EINVAL, "no JSON object");
  EXPECT_EQ(Json::parse(content(json("a"))), now);
}

TEST_F(ChangesTest, AWriteIntoTheMiddleOfAJsonBeginsADraftOfIt) {
  const std::string before = content(json("a"));
  const auto writer = opened(json("a"), O_RDWR);
  EXPECT_TRUE(writer->direct);
  const std::string key = "\"doc_string\": \"";
  std::string changed = before;
  changed.insert(before.find(key) + key.size(), "hello");
  const size_t from = before.find(key);
  writer->write(from, bytes(std::string_view(changed).substr(from)));
  EXPECT_EQ(writer->content().text(), changed);
  writer->closed_by(us);
  EXPECT_EQ(Json::parse(content(json("a")))["doc_string"], "hello");
}

TEST_F(ChangesTest, WhatCannotBeEditedIsReadOnly) {
  for (const std::string& path : {bin("broken"), json("broken"), bin("unknown"), bin("partly"), bin("alone"),
                                  std::string("model.json"), std::string("index.tsv"), std::string("graph.txt"),
                                  std::string("problems.txt"), std::string(".onnxfs/edits.tsv")}) {
    for (const int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_WRONLY | O_TRUNC}) {
      EXPECT_ERROR(opened(path, flags), EROFS, "");
    }
    EXPECT_EQ(find(path).attributes.st_mode & 0777u, 0444u) << path;
  }
  EXPECT_ERROR(opened(bin("partly"), O_WRONLY), EROFS, "initializers/tied");
  EXPECT_ERROR(opened(bin("tied"), O_WRONLY), EROFS, "initializers/partly");
  EXPECT_ERROR(opened(bin("late"), O_WRONLY), EROFS, "int64_data has 5000 entries");  // it turns out to be broken
  EXPECT_EQ(find(bin("a")).attributes.st_mode & 0777u, 0644u);
  EXPECT_EQ(find("initializers").attributes.st_mode & 0777u, 0755u);
}

TEST_F(ChangesTest, AReadOnlyMountTakesNoChange) {
  reopen(false);
  EXPECT_ERROR(opened(bin("a"), O_WRONLY), EROFS, "read-only");
  EXPECT_ERROR(files_->create(inode("initializers"), "new", 0644, O_WRONLY), EROFS, "");
  EXPECT_ERROR(files_->resize(inode(bin("a")), 8), EROFS, "");
  EXPECT_ERROR(files_->remove(inode("initializers"), "a.bin"), EROFS, "");
  EXPECT_ERROR(rename("a.bin", "b.bin"), EROFS, "");
  EXPECT_ERROR(files_->change_attributes(inode(bin("a")), {0600, {}, {}, {}}), EROFS, "");
  EXPECT_EQ(find(bin("a")).attributes.st_mode & 0777u, 0444u);
  EXPECT_EQ(find("initializers").attributes.st_mode & 0777u, 0555u);
}

TEST_F(ChangesTest, ATemporaryFileReplacesATensorWhenItIsRenamedOverIt) {
  make_scratch("a.bin.tmp", "12345678");
  EXPECT_EQ(content("initializers/a.bin.tmp"), "12345678");
  const Entry scratch = find("initializers/a.bin.tmp");
  EXPECT_EQ(scratch.attributes.st_mode, static_cast<mode_t>(S_IFREG | 0640));
  EXPECT_EQ(scratch.name_valid, 0) << "else its inode would stay with the tensor's name";
  EXPECT_EQ(walk().count("initializers/a.bin.tmp"), 1u);
  const uint64_t tensor = inode(bin("a"));
  changed_.clear();
  rename("a.bin.tmp", "a.bin");
  EXPECT_EQ(content(bin("a")), "12345678");
  EXPECT_EQ(inode(bin("a")), tensor);
  EXPECT_TRUE(changed_.contains(tensor));
  EXPECT_EQ(find("initializers/a.bin.tmp").attributes.st_ino, 0u);
  EXPECT_ERROR(files_->entry(scratch.attributes.st_ino), ENOENT, "");
}

TEST_F(ChangesTest, ATemporaryFileOfAWrongContentReplacesNothing) {
  make_scratch("t", "1234567");
  EXPECT_ERROR(rename("t", "a.bin"), EINVAL, "7 bytes");
  EXPECT_ERROR(rename("t", "a.json"), EINVAL, "no JSON object");
  EXPECT_ERROR(rename("t", "a.bin", false), EEXIST, "");
  EXPECT_ERROR(rename("t", "broken.bin"), EROFS, "");
  EXPECT_ERROR(rename("t", "dir"), EISDIR, "");
  EXPECT_EQ(content(bin("a")), "abcdefgh");
  EXPECT_EQ(content("initializers/t"), "1234567");
}

TEST_F(ChangesTest, TemporaryFilesAreRenamedReplacedAndRemoved) {
  make_scratch("t", "one");
  make_scratch("u", "two");
  rename("t", "u");
  EXPECT_EQ(content("initializers/u"), "one");
  rename("u", "v");
  EXPECT_EQ(find("initializers/u").attributes.st_ino, 0u);
  const auto file = opened("initializers/v", O_RDWR);
  files_->remove(inode("initializers"), "v");
  file->write(3, bytes("!"));
  EXPECT_EQ(file->content().text(), "one!") << "what is open stays";
  EXPECT_EQ(find("initializers/v").attributes.st_ino, 0u);
}

TEST_F(ChangesTest, TemporaryFilesThatAreDroppedAskForTidying) {
  int asked = 0;
  files_->watch({[](uint64_t) {}, [](uint64_t) {}, [&asked] { ++asked; }});
  make_scratch("t", std::string(9 << 20, 't'));
  files_->tidy();
  asked = 0;
  const uint64_t before = sidecar_->size_on_disk();
  files_->remove(inode("initializers"), "t");
  EXPECT_GT(asked, 0);
  files_->tidy();
  EXPECT_LT(sidecar_->size_on_disk(), before / 1000);
  files_->watch({});
}

TEST_F(ChangesTest, TemporaryFilesTakeModesAndTimes) {
  make_scratch("t", "one");
  const uint64_t scratch = inode("initializers/t");
  files_->change_attributes(scratch, {0600, 7, 8, timespec{9, 0}});
  files_->resize(scratch, 5);
  const struct stat now = files_->entry(scratch).attributes;
  EXPECT_EQ(now.st_mode & 0777u, 0600u);
  EXPECT_EQ(now.st_uid, 7u);
  EXPECT_EQ(now.st_gid, 8u);
  EXPECT_EQ(now.st_mtim.tv_sec, 9);
  EXPECT_EQ(content("initializers/t"), std::string("one\0\0", 5));
}

TEST_F(ChangesTest, TensorsAreNeitherMadeRenamedNorRemoved) {
  const uint64_t folder = inode("initializers");
  EXPECT_ERROR(files_->remove(folder, "a.bin"), EPERM, "");
  EXPECT_ERROR(files_->remove(folder, "dir"), EPERM, "");
  EXPECT_ERROR(files_->remove(folder, "missing"), ENOENT, "");
  EXPECT_ERROR(rename("a.bin", "b.bin"), EPERM, "");
  EXPECT_ERROR(rename("a.bin", "ints.bin"), EPERM, "");
  EXPECT_ERROR(rename("missing", "b.bin"), ENOENT, "");
  EXPECT_ERROR(files_->create(folder, "a.bin", 0644, O_WRONLY), EEXIST, "");
  EXPECT_ERROR(files_->create(root, "new", 0644, O_WRONLY), EPERM, "");  // no tensors are there
  EXPECT_ERROR(files_->create(inode(".onnxfs"), "new", 0644, O_WRONLY), EPERM, "");
}

TEST_F(ChangesTest, ModesAndOwnersAreTheMounts) {
  const uint64_t a = inode(bin("a"));
  EXPECT_NO_THROW(files_->change_attributes(a, {0644, 1000, 2000, timespec{9, 0}}));
  EXPECT_NE(find(bin("a")).attributes.st_mtim.tv_sec, 9);
  EXPECT_ERROR(files_->change_attributes(a, {0600, {}, {}, {}}), EPERM, "");
  EXPECT_ERROR(files_->change_attributes(a, {{}, 1001, {}, {}}), EPERM, "");
  EXPECT_ERROR(files_->change_attributes(a, {{}, {}, 2001, {}}), EPERM, "");
}

TEST_F(ChangesTest, AnEditIsToldToWhateverElseShowsIt) {
  const auto writer = opened(bin("a"), O_WRONLY);
  opened(json("a"), O_RDONLY);
  writer->write(0, bytes("X"));
  EXPECT_EQ(changed_,
            (std::set<uint64_t>{inode(json("a")), inode("npy/initializers/a.npy"), inode("text/initializers/a.txt"),
                                inode("pb/initializers/a.pb"), inode("live/model.onnx"), inode("index.tsv"),
                                inode("model.safetensors"), inode("XXH128SUMS")}));
  changed_.clear();
  writer->write(0, bytes("Y"));
  EXPECT_TRUE(changed_.empty()) << "the kernel was told, and has looked at nothing since";
  EXPECT_FALSE(opened(json("a"), O_RDONLY)->keep_cache);
  EXPECT_TRUE(opened(bin("a"), O_RDONLY)->keep_cache) << "the kernel knows what it wrote";
  EXPECT_FALSE(opened("index.tsv", O_RDONLY)->keep_cache);
  EXPECT_TRUE(opened("index.tsv", O_RDONLY)->keep_cache);
}

TEST_F(ChangesTest, TiedTensorsAreEditedThroughTheFirst) {
  open(testing::model(graph({
           external(tensor("x", type::uint8, {8}), {{"location", "w.bin"}}),
           external(tensor("y", type::uint8, {2, 4}), {{"location", "./w.bin"}}),
       })),
       {1000, 2000, 0, true});
  files_->watch({[this](uint64_t inode) { changed_.insert(inode); }, [](uint64_t) {}, [] {}});
  EXPECT_ERROR(opened(bin("y"), O_RDWR), EROFS, "initializers/y has the bytes of initializers/x");
  EXPECT_EQ(find(bin("y")).attributes.st_mode & 0777u, 0444u);
  opened(bin("x"), O_RDWR)->write(1, bytes("ABC"));
  EXPECT_TRUE(changed_.contains(inode(bin("y"))));
  EXPECT_FALSE(opened(bin("y"), O_RDONLY)->keep_cache);
  EXPECT_EQ(content(bin("x")), "0ABC4567");
  EXPECT_EQ(content(bin("y")), "0ABC4567");
  EXPECT_EQ(Json::parse(content(json("y")))["edited"], true);
}

// Programs that write while another closes what is complete: whatever the order, nothing that was written is lost.
TEST_F(ChangesTest, NoWriteIsLostWhenAReplacementEnds) {
  for (int turn = 0; turn < 200; ++turn) {
    const auto file = opened(bin("a"), O_RDWR | O_TRUNC);
    file->write(0, bytes("........"));
    std::thread closer([&] { file->closed_by(us); });
    file->write(3, bytes("X"));
    closer.join();
    ASSERT_EQ(content(bin("a")), "...X....") << turn;
  }
}

struct CountingDisk final : Disk {
  void flush(int fd, const std::string& path) override {
    ++flushes;
    Disk::flush(fd, path);
  }
  int flushes = 0;
};

TEST_F(ChangesTest, AReplacementThatWasFlushedIsDurableWhenItIsClosed) {
  CountingDisk disk;
  files_.reset();
  sidecar_ = Sidecar::open(Model::open(path_), folder_ / "edits", "test", disk);
  files_ =
      std::make_unique<ModelFilesystem>(sidecar_, Ownership{0, 0, 0, true}, [](const auto&) { return std::string(); });
  for (const bool is_flushed : {false, true}) {
    const auto file = opened(bin("a"), O_WRONLY | O_TRUNC);
    EXPECT_TRUE(file->direct) << "nothing of it is to stay in the kernel's cache";
    file->write(0, bytes("12345678"));
    if (is_flushed) {
      files_->flush();
      file->flushed();
    }
    disk.flushes = 0;
    file->closed_by(us);
    EXPECT_EQ(disk.flushes > 0, is_flushed);
  }
  files_.reset();
  sidecar_.reset();
}

TEST_F(ChangesTest, WhoHasATemporaryFileOpenGoesOnAfterItIsRenamed) {
  const auto made = files_->create(inode("initializers"), "t", 0600, O_RDWR);
  made.file->write(0, bytes("12345678"));
  const uint64_t scratch = made.entry.attributes.st_ino;
  rename("t", "a.bin");
  made.file->write(2, bytes("XY"));
  EXPECT_EQ(content(bin("a")), "12XY5678");
  EXPECT_EQ(made.file->content().text(), "12XY5678");
  EXPECT_EQ(files_->entry(scratch).attributes.st_size, 8) << "fstat";
  EXPECT_ERROR(made.file->write(8, bytes("Z")), EFBIG, "");
  EXPECT_ERROR(made.file->resize(3), EINVAL, "keeps its size");
}

TEST_F(ChangesTest, ARemovedTemporaryFileStaysForThoseWhoHaveItOpen) {
  const auto made = files_->create(inode("initializers"), "t", 0600, O_RDWR);
  files_->remove(inode("initializers"), "t");
  made.file->write(0, bytes("hello"));
  EXPECT_EQ(made.file->content().text(), "hello");
  EXPECT_EQ(files_->entry(made.entry.attributes.st_ino).attributes.st_size, 5);
  files_->change_attributes(made.entry.attributes.st_ino, {0644, {}, {}, {}});
  EXPECT_EQ(files_->entry(made.entry.attributes.st_ino).attributes.st_mode & 0777u, 0644u);
}

TEST_F(ChangesTest, NamesOfTemporaryFilesHaveABound) {
  const uint64_t folder = inode("initializers");
  EXPECT_ERROR(files_->create(folder, std::string(256, 'n'), 0600, O_RDWR), ENAMETOOLONG, "256");
  make_scratch(std::string(255, 'n'), "x");
  EXPECT_ERROR(rename(std::string(255, 'n'), std::string(256, 'n')), ENAMETOOLONG, "");
}

TEST_F(ChangesTest, ANpyFileIsPatchedBehindItsHeader) {
  const std::string path = "npy/initializers/a.npy";
  const std::string before = content(path);
  const auto file = opened(path, O_RDWR);
  std::string page = before;
  page.replace(page.size() - 8, 2, "XY");
  file->write(0, bytes(page));
  EXPECT_EQ(content(bin("a")), "XYcdefgh");
  page[9] = '?';
  EXPECT_ERROR(file->write(0, bytes(page)), EINVAL, "header");
  EXPECT_ERROR(file->write(before.size() - 1, bytes("ab")), EFBIG, "past the end");
  EXPECT_EQ(content(bin("a")), "XYcdefgh");
}

TEST_F(ChangesTest, ANpyFileIsReplacedByAnotherOfItsElements) {
  const std::string path = "npy/initializers/a.npy";
  std::string file = content(path);
  file.replace(file.size() - 8, 8, "ABCDEFGH");
  replace(path, file);
  EXPECT_EQ(content(bin("a")), "ABCDEFGH");
  EXPECT_ERROR(replace(path, file.substr(0, file.size() - 1)), EINVAL, "");
  EXPECT_ERROR(replace(path, "no array"), EINVAL, "");
  EXPECT_EQ(content(path), file);
  EXPECT_EQ(find("npy/initializers/dir/strings.npy").attributes.st_ino, 0u);
}

TEST_F(ChangesTest, TheListingsFollow) {
  const std::string before = content("index.tsv");
  EXPECT_EQ(content(".onnxfs/edits.tsv"), "path\tchanged\tat\n");
  replace(bin("ints"), std::string(24, 'x'));
  EXPECT_NE(content("index.tsv"), before);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "initializers/ints.bin\tint64\t[3]\t24\tsidecar", content("index.tsv"));
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "initializers/ints.bin\tpayload\t", content(".onnxfs/edits.tsv"));
  EXPECT_EQ(find("index.tsv").attributes.st_size, static_cast<off_t>(content("index.tsv").size()));
  EXPECT_GT(find(bin("ints")).attributes.st_mtim.tv_sec, 0);
}

TEST_F(ChangesTest, EditsAreThereAgainAtTheNextMount) {
  replace(bin("a"), "12345678");
  make_scratch("left", "behind");
  files_->flush();
  files_.reset();
  sidecar_.reset();
  sidecar_ = Sidecar::open(Model::open(path_), sidecar_path(path_), "again");
  files_ =
      std::make_unique<ModelFilesystem>(sidecar_, Ownership{0, 0, 0, true}, [](const auto&) { return std::string(); });
  EXPECT_EQ(content(bin("a")), "12345678");
  EXPECT_EQ(find("initializers/left").attributes.st_ino, 0u);
  EXPECT_EQ(Json::parse(content(json("a")))["edited"], true);
}

}  // namespace
}  // namespace onnxfs
