// The mount of a folder of models, without a kernel.
#include "fs/folder_filesystem.h"

#include <filesystem>
#include <set>
#include <thread>

#include "tests/unit/filesystem_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::graph;
using testing::list;
using testing::Listed;
using testing::Message;
using testing::model;
using testing::scalar;

class FolderFilesystemTest : public ::testing::Test {
 protected:
  static constexpr uint64_t root = Filesystem::root_inode;

  FolderFilesystemTest() {
    write("a.onnx", {"first", "deep/second"});
    write("sub/b.onnx", {"w"});
    folder_.write("sub/bad.onnx", "PK\x03\x04 and more");
    folder_.write("value.pb", testing::tensor("v", 2, {3}).bytes(9, "abc").str());
    folder_.write("notes.txt", "no model");
  }
  void write(const std::string& name, const std::vector<std::string>& tensors) {
    std::vector<Message> messages;
    for (const std::string& tensor : tensors) messages.push_back(scalar(tensor));
    folder_.write("new", model(graph(messages)).str());
    files::create_directories(files::path(folder_ / name).parent_path());
    files::rename(folder_ / "new", folder_ / name);
  }
  std::shared_ptr<Filesystem> open_model(const std::string& path) {
    ++opened_;
    return std::make_shared<ModelFilesystem>(Sidecar::open(Model::open(path), sidecar_path(path), "test"),
                                             Ownership{1000, 2000, 0, true}, nullptr);
  }

  Entry find(const std::string& path) const {
    Entry entry = files_.entry(root);
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      std::optional<Absence> absence;
      entry = files_.lookup(entry.attributes.st_ino, path.substr(begin, end - begin), absence);
      if (absence) return {};
      begin = end + 1;
    }
    return entry;
  }
  uint64_t inode(const std::string& path) const { return find(path).attributes.st_ino; }
  std::string content(const std::string& path) const { return files_.open(inode(path), O_RDONLY)->content().text(); }

  // Every path below a folder, with its number.
  std::map<std::string, uint64_t> walk(uint64_t folder = root, const std::string& prefix = "") const {
    std::map<std::string, uint64_t> found;
    for (const Listed& entry : list(files_, folder)) {
      if (entry.name == "." || entry.name == "..") continue;
      EXPECT_TRUE(found.emplace(prefix + entry.name, entry.inode).second) << prefix + entry.name << " twice";
      if (entry.type == S_IFDIR) found.merge(walk(entry.inode, prefix + entry.name + "/"));
    }
    return found;
  }

  testing::TemporaryFolder folder_;
  std::atomic<int> opened_ = 0;
  FolderFilesystem files_{folder_.path(),
                          "/elsewhere",
                          {1000, 2000, 0},
                          [this](const std::string& path) { return open_model(path); },
                          [](const auto&) { return "status"; }};
};

// What is let go of, by a clock that tests turn.
class FolderLimitsTest : public FolderFilesystemTest {
 protected:
  std::shared_ptr<FolderFilesystem> mounted(FolderLimits limits) {
    limits.now = [this] { return now_; };
    const Ownership ownership{1000, 2000, 0};
    auto mount = std::make_shared<FolderFilesystem>(
        folder_.path(), "/elsewhere", ownership, [this](const std::string& path) { return open_model(path); },
        [](const auto&) { return "status"; }, std::move(limits));
    mount->watch({[this](uint64_t inode) { changed_.insert(inode); }, [](uint64_t) {}, [] {}});
    return mount;
  }
  static uint64_t inode_in(const Filesystem& mount, const std::vector<std::string>& path) {
    uint64_t inode = root;
    for (const std::string& name : path) {
      std::optional<Absence> absence;
      inode = mount.lookup(inode, name, absence).attributes.st_ino;
      EXPECT_FALSE(absence) << name;
    }
    return inode;
  }
  void pass(std::chrono::seconds time) { now_ += time; }

  const std::vector<std::string> first_{"a.onnx", "initializers", "first.bin"};
  FolderLimits::Clock::time_point now_{std::chrono::hours(1)};
  std::set<uint64_t> changed_;
};

TEST_F(FolderFilesystemTest, ShowsFoldersModelsAndWhatIsInThem) {
  std::set<std::string> paths;
  for (const auto& [path, inode] : walk()) {
    const bool is_view = path.find("/npy") != std::string::npos || path.find("/text") != std::string::npos ||
                         path.find("/pb") != std::string::npos || path.find("/live") != std::string::npos;
    if (!is_view && !path.ends_with(".safetensors") && !path.ends_with("SUMS")) paths.insert(path);
  }
  EXPECT_EQ(paths, (std::set<std::string>{".onnxfs",
                                          ".onnxfs/log.txt",
                                          ".onnxfs/status.json",
                                          "a.onnx",
                                          "a.onnx/graph.txt",
                                          "a.onnx/index.tsv",
                                          "a.onnx/initializers",
                                          "a.onnx/initializers/deep",
                                          "a.onnx/initializers/deep/second.bin",
                                          "a.onnx/initializers/deep/second.json",
                                          "a.onnx/initializers/first.bin",
                                          "a.onnx/initializers/first.json",
                                          "a.onnx/model.json",
                                          "sub",
                                          "sub/b.onnx",
                                          "sub/b.onnx/graph.txt",
                                          "sub/b.onnx/index.tsv",
                                          "sub/b.onnx/initializers",
                                          "sub/b.onnx/initializers/w.bin",
                                          "sub/b.onnx/initializers/w.json",
                                          "sub/b.onnx/model.json",
                                          "sub/bad.onnx",
                                          "sub/bad.onnx/problems.txt",
                                          "value.pb",
                                          "value.pb/index.tsv",
                                          "value.pb/model.json",
                                          "value.pb/values",
                                          "value.pb/values/v.bin",
                                          "value.pb/values/v.json"}));
  EXPECT_EQ(content("value.pb/values/v.bin"), "abc");
  EXPECT_EQ(content("sub/b.onnx/initializers/w.bin"), testing::float_bytes({1}));
  EXPECT_EQ(content(".onnxfs/status.json"), "status");
}

TEST_F(FolderFilesystemTest, LookupFindsWhatIsListedByTheSameNumber) {
  std::set<uint64_t> inodes{root};
  for (const auto& [path, inode] : walk()) {
    EXPECT_EQ(find(path).attributes.st_ino, inode) << path;
    EXPECT_EQ(files_.entry(inode).attributes.st_ino, inode) << path;
    EXPECT_TRUE(inodes.insert(inode).second) << path << " has the number of another";
  }
}

TEST_F(FolderFilesystemTest, DotsLeadUp) {
  const auto up = [this](uint64_t inode) { return list(files_, inode)[1].inode; };
  EXPECT_EQ(up(root), root);
  EXPECT_EQ(up(inode("sub")), root);
  EXPECT_EQ(up(inode("sub/b.onnx")), inode("sub"));
  EXPECT_EQ(up(inode("sub/b.onnx/initializers")), inode("sub/b.onnx"));
  EXPECT_EQ(up(inode(".onnxfs")), root);
  for (const auto& [path, inode] : walk()) {
    if (!S_ISDIR(files_.entry(inode).attributes.st_mode)) continue;
    EXPECT_EQ(list(files_, inode)[0].inode, inode) << path;
  }
}

TEST_F(FolderFilesystemTest, ListsGoOnFromAnyOffset) {
  for (const std::string path : {"", "sub", "a.onnx", "a.onnx/initializers", ".onnxfs", "sub/bad.onnx"}) {
    const uint64_t number = path.empty() ? root : inode(path);
    const auto all = list(files_, number);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(list(files_, number, all[i].next),
                std::vector<Listed>(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end()))
          << path;
      EXPECT_EQ(list(files_, number, 0, i).size(), i);
    }
    EXPECT_TRUE(list(files_, number, UINT64_MAX).empty()) << path;
  }
}

TEST_F(FolderFilesystemTest, ModelsAreOpenedWhenSomethingInThemIsAskedFor) {
  list(files_, root);
  list(files_, inode("sub"));
  files_.entry(inode("a.onnx"));
  EXPECT_EQ(opened_, 0);
  list(files_, inode("a.onnx"));
  EXPECT_EQ(opened_, 1);
  content("a.onnx/initializers/first.bin");
  EXPECT_EQ(opened_, 1);
}

TEST_F(FolderFilesystemTest, ManyModelsAreNotAllKeptOpen) {
  for (int i = 0; i < 100; ++i) write(fmt::format("many/{}.onnx", i), {"w"});
  const auto open_file = files_.open(inode("many/0.onnx/initializers/w.bin"), O_RDONLY);
  for (int i = 0; i < 100; ++i) content(fmt::format("many/{}.onnx/initializers/w.bin", i));
  const int before = opened_;
  EXPECT_EQ(before, 100);
  content("many/99.onnx/initializers/w.bin");
  EXPECT_EQ(opened_, before) << "the last ones are kept";
  content("many/1.onnx/initializers/w.bin");
  EXPECT_EQ(opened_, before + 1) << "the first ones are not";
  EXPECT_EQ(open_file->content().text(), testing::float_bytes({1})) << "what is open stays so";
}

TEST_F(FolderFilesystemTest, ModelsInUseAreKept) {
  for (int i = 0; i < 100; ++i) write(fmt::format("many/{}.onnx", i), {"w"});
  for (int i = 0; i < 100; ++i) {
    content(fmt::format("many/{}.onnx/initializers/w.bin", i));
    content("many/0.onnx/initializers/w.bin");
  }
  EXPECT_EQ(opened_, 100);
}

TEST_F(FolderFilesystemTest, WhatIsNoModelSaysWhy) {
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "bad.onnx is a zip archive", content("sub/bad.onnx/problems.txt"));
  EXPECT_TRUE(content("sub/bad.onnx/problems.txt").ends_with("\n"));
  folder_.write("cut.onnx", "\x08\x01\x3a\x05\x0a");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "truncated at offset 5", content("cut.onnx/problems.txt"));
  folder_.write("empty.pb", "");
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "is empty", content("empty.pb/problems.txt"));
}

TEST_F(FolderFilesystemTest, NewFilesAppearAndRemovedOnesVanish) {
  list(files_, root);
  std::optional<Absence> absence;
  files_.lookup(root, "later.onnx", absence);
  ASSERT_TRUE(absence);
  EXPECT_LE(absence->valid, 1);
  write("later.onnx", {"w"});
  EXPECT_EQ(content("later.onnx/initializers/w.bin"), testing::float_bytes({1}));
  files::remove(folder_ / "value.pb");
  EXPECT_FALSE(walk().contains("value.pb"));
  EXPECT_EQ(inode("value.pb"), 0u);
}

TEST_F(FolderFilesystemTest, AnotherFileUnderTheSameNameIsAnotherFolder) {
  const uint64_t before = inode("a.onnx");
  EXPECT_EQ(inode("a.onnx/initializers/other.bin"), 0u);
  write("a.onnx", {"other", "and another"});
  EXPECT_NE(inode("a.onnx"), before);
  EXPECT_NE(inode("a.onnx/initializers/other.bin"), 0u);
  EXPECT_EQ(inode("a.onnx/initializers/first.bin"), 0u);
}

TEST_F(FolderFilesystemTest, ReplacedFileThatWasNotOpenIsStale) {
  const uint64_t before = inode("a.onnx");
  write("a.onnx", {"other", "and another"});
  EXPECT_ERROR(list(files_, before), ESTALE, "a.onnx");
}

TEST_F(FolderFilesystemTest, AttributesAreThoseOfTheOwnerAndTheFiles) {
  struct stat model;
  ASSERT_EQ(::stat((folder_ / "a.onnx").c_str(), &model), 0);
  for (const std::string path : {"a.onnx", "a.onnx/initializers/first.bin"}) {
    const struct stat attributes = find(path).attributes;
    EXPECT_EQ(attributes.st_mtim.tv_sec, model.st_mtim.tv_sec) << path;
    EXPECT_EQ(attributes.st_mtim.tv_nsec, model.st_mtim.tv_nsec) << path;
    EXPECT_EQ(attributes.st_uid, 1000u) << path;
  }
  EXPECT_TRUE(S_ISDIR(find("a.onnx").attributes.st_mode));
  EXPECT_LE(find("a.onnx").name_valid, 1) << "it may be another file soon";
  EXPECT_GT(find("a.onnx/initializers/first.bin").name_valid, 60);
}

TEST_F(FolderFilesystemTest, WhatIsMadeForTheMountIsNotWritten) {
  for (const std::string path : {".onnxfs/status.json", "sub/bad.onnx/problems.txt"}) {
    EXPECT_ERROR(files_.open(inode(path), O_RDWR), EROFS, "read-only");
  }
  for (const uint64_t number :
       {root, inode("sub"), inode("a.onnx"), inode("a.onnx/initializers"), inode(".onnxfs"), inode("sub/bad.onnx")}) {
    EXPECT_ERROR(files_.open(number, O_RDONLY), EISDIR, "");
  }
}

TEST_F(FolderFilesystemTest, OnlyFoldersHoldNames) {
  std::optional<Absence> absence;
  for (const std::string path : {".onnxfs/status.json", "a.onnx/model.json", "sub/bad.onnx/problems.txt"}) {
    EXPECT_ERROR(files_.lookup(inode(path), "x", absence), ENOTDIR, "");
    EXPECT_ERROR(list(files_, inode(path)), ENOTDIR, "");
  }
  for (const std::string path :
       {"notes.txt", "sub/none.onnx", "a.onnx/none", "a.onnx/.onnxfs", ".onnxfs/none", "sub/.onnxfs"}) {
    EXPECT_EQ(inode(path), 0u) << path;
  }
}

TEST_F(FolderFilesystemTest, PayloadsHaveExtendedAttributes) {
  const uint64_t payload = inode("a.onnx/initializers/deep/second.bin");
  EXPECT_EQ(files_.attribute(payload, "user.onnx.name"), "deep/second");
  EXPECT_EQ(files_.attribute_size(payload, "user.onnx.xxh128"), 32u);
  EXPECT_EQ(files_.attribute_names(payload).size(), 4u);
  for (const std::string path : {"", "sub", "a.onnx", ".onnxfs", ".onnxfs/status.json", "sub/bad.onnx/problems.txt"}) {
    const uint64_t number = path.empty() ? root : inode(path);
    EXPECT_TRUE(files_.attribute_names(number).empty()) << path;
    EXPECT_ERROR(files_.attribute_size(number, "user.onnx.name"), ENODATA, "");
    EXPECT_ERROR(files_.attribute(number, "user.onnx.name"), ENODATA, "");
  }
}

TEST_F(FolderFilesystemTest, NumbersThatWereNeverToldDoNotExist) {
  const uint64_t folder = inode("sub") & ~uint64_t{0xff}, model = inode("a.onnx") & ~uint64_t{0xff};
  for (const uint64_t number : {uint64_t{0}, uint64_t{2}, uint64_t{0x102}, folder, folder | 2, folder | 0x101, model,
                                model | 7, model | 0xff01, uint64_t{5} << 40 | 1, uint64_t{1} << 40 | 4, UINT64_MAX}) {
    EXPECT_ERROR(files_.entry(number), ENOENT, "");
    EXPECT_ERROR(files_.open(number, O_RDONLY), ENOENT, "");
  }
}

TEST_F(FolderFilesystemTest, ManyThreadsAskAtOnce) {
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        good += content("sub/b.onnx/initializers/w.bin") == testing::float_bytes({1}) &&
                content("value.pb/values/v.bin") == "abc";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 6 * 50);
  EXPECT_EQ(opened_, 2);
}

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST_F(FolderFilesystemTest, ModelsAreEdited) {
  std::set<uint64_t> changed;
  files_.watch({[&changed](uint64_t inode) { changed.insert(inode); }, [](uint64_t) {}, [] {}});
  const std::string path = "a.onnx/initializers/first.bin";
  {
    const auto file = files_.open(inode(path), O_RDWR);
    file->write(0, bytes("abcd"));
    EXPECT_ERROR(file->write(4, bytes("e")), EFBIG, "");
  }
  EXPECT_EQ(content(path), "abcd");
  EXPECT_TRUE(changed.contains(inode("a.onnx/initializers/first.json")));
  const auto made = files_.create(inode("a.onnx/initializers"), "new", 0600, O_WRONLY);
  made.file->write(0, bytes("ABCD"));
  EXPECT_EQ(made.entry.attributes.st_ino, inode("a.onnx/initializers/new"));
  files_.rename(inode("a.onnx/initializers"), "new", inode("a.onnx/initializers"), "first.bin", true);
  EXPECT_EQ(content(path), "ABCD");
  EXPECT_EQ(find("a.onnx.sidecar").attributes.st_ino, 0u) << "what keeps the edits is seen in the model";
}

TEST_F(FolderFilesystemTest, TheFolderItselfIsNotChanged) {
  EXPECT_ERROR(files_.create(root, "new.onnx", 0600, O_WRONLY), EPERM, "");
  EXPECT_ERROR(files_.create(inode("sub"), "new.onnx", 0600, O_WRONLY), EPERM, "");
  EXPECT_ERROR(files_.remove(root, "a.onnx"), EPERM, "");
  EXPECT_ERROR(files_.rename(root, "a.onnx", root, "z.onnx", true), EPERM, "");
  EXPECT_ERROR(files_.resize(inode(".onnxfs/status.json"), 0), EPERM, "");
  files_.create(inode("a.onnx/initializers"), "new", 0600, O_WRONLY);
  EXPECT_ERROR(files_.rename(inode("a.onnx/initializers"), "new", inode("sub/b.onnx/initializers"), "w.bin", true),
               EXDEV, "");
}

// What a program has open, or is about to rename, outlives any number of other models.
TEST_F(FolderFilesystemTest, WhatIsInUseIsKept) {
  const auto open_file = files_.open(inode("a.onnx/initializers/first.bin"), O_RDWR);
  files_.create(inode("sub/b.onnx/initializers"), "new", 0600, O_WRONLY);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "many" + std::string(1, static_cast<char>('0' + i / 10)) + static_cast<char>('0' + i % 10);
    write(name + ".onnx", {"w"});
    content(name + ".onnx/initializers/w.bin");
  }
  const int opened = opened_;
  open_file->write(0, bytes("wxyz"));
  EXPECT_EQ(content("a.onnx/initializers/first.bin"), "wxyz");
  EXPECT_NE(find("sub/b.onnx/initializers/new").attributes.st_ino, 0u);
  EXPECT_EQ(opened_, opened);
}

TEST_F(FolderLimitsTest, WhatIsNotUsedForAWhileIsDropped) {
  const auto mount = mounted({.unused = std::chrono::seconds(300)});
  EXPECT_EQ(mount->let_go_interval(), std::chrono::seconds(75));
  const uint64_t first = inode_in(*mount, first_), b = inode_in(*mount, {"sub", "b.onnx", "initializers"});
  EXPECT_EQ(opened_, 2);
  pass(std::chrono::seconds(200));
  mount->entry(b);
  mount->let_go();
  EXPECT_EQ(opened_, 2);
  pass(std::chrono::seconds(100));
  mount->let_go();
  mount->entry(b);
  EXPECT_EQ(opened_, 2) << "that one was used since";
  EXPECT_EQ(mount->open(first, O_RDONLY)->content().text(), testing::float_bytes({1})) << "by the inode of before";
  EXPECT_EQ(opened_, 3);
  EXPECT_EQ(inode_in(*mount, first_), first);
  EXPECT_TRUE(changed_.empty()) << "nothing was edited";
}

TEST_F(FolderLimitsTest, WhatIsInUseIsNotDropped) {
  const auto mount = mounted({});
  auto file = mount->open(inode_in(*mount, first_), O_RDWR);
  mount->create(inode_in(*mount, {"sub", "b.onnx", "initializers"}), "new", 0600, O_WRONLY);
  pass(std::chrono::hours(1));
  mount->let_go();
  file->write(0, bytes("wxyz"));
  inode_in(*mount, {"sub", "b.onnx", "initializers", "new"});
  EXPECT_EQ(opened_, 2);
  file.reset();
  pass(std::chrono::hours(1));
  mount->let_go();
  EXPECT_EQ(mount->open(inode_in(*mount, first_), O_RDONLY)->content().text(), "wxyz");
  EXPECT_EQ(opened_, 3);
}

// While it was dropped somebody else may have edited it, or dropped edits of ours; and what was to be told to the
// kernel at the next opening of a file was forgotten.
TEST_F(FolderLimitsTest, WhatIsOpenedAgainIsNotBelievedByTheKernel) {
  const auto mount = mounted({});
  const uint64_t first = inode_in(*mount, first_);
  const uint64_t second = inode_in(*mount, {"a.onnx", "initializers", "deep", "second.bin"});
  mount->open(first, O_RDWR)->write(0, bytes("wxyz"));
  pass(std::chrono::hours(1));
  mount->let_go();
  const std::string path = folder_ / "a.onnx";
  remove_sidecar(sidecar_path(path));
  Sidecar::open(Model::open(path), sidecar_path(path), "another")->write(1, 0, bytes("2222"));
  changed_.clear();
  const auto now = mount->open(first, O_RDONLY);
  EXPECT_FALSE(now->keep_cache);
  EXPECT_EQ(now->content().text(), testing::float_bytes({1}));
  EXPECT_FALSE(mount->open(second, O_RDONLY)->keep_cache);
  EXPECT_TRUE(mount->open(second, O_RDONLY)->keep_cache);
  EXPECT_TRUE(changed_.contains(first));
  EXPECT_TRUE(changed_.contains(inode_in(*mount, {"a.onnx", "npy", "initializers", "first.npy"})));
  EXPECT_TRUE(changed_.contains(inode_in(*mount, {"a.onnx", "live", "a.onnx"})));
}

TEST_F(FolderLimitsTest, LargeModelsAreFewer) {
  write("large1.onnx", std::vector<std::string>(100, "w"));
  write("large2.onnx", std::vector<std::string>(100, "w"));
  const auto mount = mounted({.memory = 100'000});
  const auto look_into = [&](const std::string& name) { list(*mount, inode_in(*mount, {name})); };
  look_into("large1.onnx");
  look_into("a.onnx");
  look_into("large1.onnx");
  EXPECT_EQ(opened_, 2) << "both have room";
  look_into("large2.onnx");
  look_into("large2.onnx");
  EXPECT_EQ(opened_, 3);
  look_into("large1.onnx");
  EXPECT_EQ(opened_, 4) << "these two have not";
  write("huge.onnx", std::vector<std::string>(1000, "w"));
  for (int i = 0; i < 3; ++i) look_into("huge.onnx");
  EXPECT_EQ(opened_, 5) << "what is too large alone is held all the same";
}

}  // namespace
}  // namespace onnxfs
