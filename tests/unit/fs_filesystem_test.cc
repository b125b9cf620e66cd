// Names, inodes and attributes of a mount, without a kernel.
#include <set>

#include "tests/unit/filesystem_fixture.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::FilesystemTest;
using testing::list;
using testing::Listed;
using testing::read_all;

const std::set<std::string> all_paths{
    ".onnxfs",
    ".onnxfs/edits.tsv",
    ".onnxfs/log.txt",
    ".onnxfs/status.json",
    "XXH128SUMS",
    "graph.txt",
    "index.tsv",
    "initializers",
    "initializers/bias.bin",
    "initializers/bias.json",
    "initializers/broken.bin",
    "initializers/broken.json",
    "initializers/encoder",
    "initializers/encoder/W.bin",
    "initializers/encoder/W.json",
    "initializers/late.bin",
    "initializers/late.json",
    "initializers/outside.bin",
    "initializers/outside.json",
    "live",
    "live/model.onnx",
    "live/w.bin",
    "model.json",
    "model.safetensors",
    "problems.txt",
};

TEST_F(FilesystemTest, ListsAllThereIs) {
  std::set<std::string> paths;
  for (const auto& [path, inode] : walk()) {
    const bool is_view = path.starts_with("npy") || path.starts_with("text") || path.starts_with("pb");
    if (!is_view) paths.insert(path);
  }
  EXPECT_EQ(paths, all_paths);
}

TEST_F(FilesystemTest, LookupFindsWhatIsListedByTheSameNumber) {
  std::set<uint64_t> inodes{root};
  for (const auto& [path, inode] : walk()) {
    const Entry found = find(path);
    EXPECT_EQ(found.attributes.st_ino, inode) << path;
    const Entry asked = files_->entry(inode);
    EXPECT_EQ(asked.attributes.st_ino, inode) << path;
    EXPECT_EQ(asked.attributes.st_mode, found.attributes.st_mode) << path;
    EXPECT_TRUE(inodes.insert(inode).second) << path << " has the number of another";
  }
}

TEST_F(FilesystemTest, NumbersAreTheSameOnEachMount) {
  const auto before = walk();
  const std::string bytes = read_all(*FileSource::open(path_));
  const testing::TemporaryFolder elsewhere;
  elsewhere.write("w.bin", "external");
  files_ = std::make_unique<ModelFilesystem>(
      Sidecar::open(Model::open(elsewhere.write("model.onnx", bytes)), elsewhere / "edits", "test"), Ownership{},
      [](const auto&) { return ""; });
  EXPECT_EQ(walk(), before);
}

TEST_F(FilesystemTest, TypesOfAListAreThoseOfTheModes) {
  for (const std::string folder : {"", "initializers", "initializers/encoder", ".onnxfs"}) {
    for (const Listed& entry : list(*files_, folder.empty() ? root : inode(folder))) {
      EXPECT_EQ(entry.type, files_->entry(entry.inode).attributes.st_mode & S_IFMT) << folder << "/" << entry.name;
    }
  }
}

TEST_F(FilesystemTest, DotsComeFirst) {
  const auto top = list(*files_, root), below = list(*files_, inode("initializers/encoder"));
  ASSERT_GE(top.size(), 2u);
  EXPECT_EQ(top[0].name, ".");
  EXPECT_EQ(top[0].inode, root);
  EXPECT_EQ(top[1].name, "..");
  EXPECT_EQ(top[1].inode, root);
  ASSERT_GE(below.size(), 2u);
  EXPECT_EQ(below[0].inode, inode("initializers/encoder"));
  EXPECT_EQ(below[1].inode, inode("initializers"));
}

TEST_F(FilesystemTest, ListsGoOnFromAnyOffset) {
  for (const std::string folder : {"", "initializers", "initializers/encoder", ".onnxfs"}) {
    const uint64_t number = folder.empty() ? root : inode(folder);
    const auto all = list(*files_, number);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(list(*files_, number, all[i].next),
                std::vector<Listed>(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end()));
      EXPECT_EQ(list(*files_, number, 0, i), std::vector<Listed>(all.begin(), all.begin() + static_cast<ptrdiff_t>(i)));
    }
    for (size_t page = 1; page <= 5; ++page) {
      std::vector<Listed> joined;
      for (uint64_t offset = 0;;) {
        const auto part = list(*files_, number, offset, page);
        if (part.empty()) break;
        joined.insert(joined.end(), part.begin(), part.end());
        offset = part.back().next;
      }
      EXPECT_EQ(joined, all);
    }
  }
}

TEST_F(FilesystemTest, ListsEndPastTheirEnd) {
  const auto all = list(*files_, root);
  for (const uint64_t offset : {all.back().next + 100, uint64_t{1} << 40, uint64_t{INT64_MAX}, UINT64_MAX}) {
    EXPECT_TRUE(list(*files_, root, offset).empty());
  }
}

TEST_F(FilesystemTest, LargeFoldersAreListedPageByPage) {
  std::vector<testing::Message> tensors;
  for (int i = 0; i < 20'000; ++i) tensors.push_back(testing::scalar(fmt::format("t{}", i)));
  open(testing::model(testing::graph(tensors)));
  std::set<std::string> names;
  uint64_t offset = 0;
  for (size_t pages = 0;; ++pages) {
    ASSERT_LT(pages, 1000u);
    const auto part = list(*files_, inode("initializers"), offset, 50);
    for (const Listed& entry : part) EXPECT_TRUE(names.insert(entry.name).second);
    if (part.size() < 50) break;
    offset = part.back().next;
  }
  EXPECT_EQ(names.size(), 2 + 2 * 20'000u);
}

TEST_F(FilesystemTest, OtherNamesAreAbsent) {
  for (const std::string path :
       {"none", "initializers/none.bin", "initializers/bias", "initializers/bias.bi", "initializers/bias.bin2",
        "initializers/bias.npy", "initializers/.bin", "initializers/.json", "initializers/BIAS.bin",
        "initializers/encoder.bin", "initializers/W.bin", "initializers/bias.json.bin", "bias.bin", "model",
        ".onnxfs/model.json", "initializers/"}) {
    EXPECT_EQ(find(path).attributes.st_ino, 0u) << path;
  }
  std::optional<Absence> absence;
  files_->lookup(root, "none", absence);
  ASSERT_TRUE(absence);
  EXPECT_GT(absence->valid, 60);
  files_->lookup(root, "model.json", absence);
  EXPECT_FALSE(absence);
}

TEST_F(FilesystemTest, OnlyFoldersHoldNames) {
  std::optional<Absence> absence;
  for (const std::string path : {"model.json", "initializers/bias.bin", "initializers/bias.json"}) {
    EXPECT_ERROR(files_->lookup(inode(path), "x", absence), ENOTDIR, "");
    EXPECT_ERROR(list(*files_, inode(path)), ENOTDIR, "");
  }
}

TEST_F(FilesystemTest, NumbersPastTheLastDoNotExist) {
  const uint64_t past = files_->tree().size() << 8;
  std::optional<Absence> absence;
  for (const uint64_t number :
       {past | 1, past | 2, UINT64_MAX, UINT64_MAX - 254, uint64_t{1} << 40 | 1, uint64_t{1} << 32}) {
    EXPECT_ERROR(files_->entry(number), ENOENT, "");
    EXPECT_ERROR(files_->open(number, O_RDONLY), ENOENT, "");
    EXPECT_ERROR(files_->lookup(number, "x", absence), ENOENT, "");
    EXPECT_ERROR(list(*files_, number), ENOENT, "");
    EXPECT_ERROR(files_->attribute(number, "user.onnx.name"), ENOENT, "");
    EXPECT_ERROR(files_->attribute_names(number), ENOENT, "");
  }
}

TEST_F(FilesystemTest, NumbersThatWereNeverToldDoNotExist) {
  std::set<uint64_t> told{root};
  for (const auto& [path, inode] : walk()) told.insert(inode);
  size_t wrong = 0;
  for (uint64_t number = 0; number < files_->tree().size() << 8; ++number) {
    if (told.contains(number)) continue;
    wrong += testing::caught([&] { files_->entry(number); }).code != ENOENT;
    wrong += testing::caught([&] { files_->open(number, O_RDONLY); }).code != ENOENT;
  }
  EXPECT_EQ(wrong, 0u) << "of " << (files_->tree().size() << 8) << " numbers";
}

TEST_F(FilesystemTest, FilesHaveTheirExactSizes) {
  const std::pair<std::string, uint64_t> sizes[] = {
      {"encoder/W", 8}, {"bias", 4}, {"outside", 8}, {"broken", 12}, {"late", 40'008}};
  for (const auto& [name, size] : sizes) {
    const struct stat attributes = find("initializers/" + name + ".bin").attributes;
    EXPECT_EQ(static_cast<uint64_t>(attributes.st_size), size) << name;
    EXPECT_EQ(static_cast<uint64_t>(attributes.st_blocks), (size + 511) / 512) << name;
  }
  for (const std::string path : {"model.json", "index.tsv", "graph.txt", "problems.txt", "initializers/bias.json"}) {
    EXPECT_EQ(static_cast<size_t>(find(path).attributes.st_size), content(path).size()) << path;
  }
}

TEST_F(FilesystemTest, AttributesAreThoseOfTheModelAndItsOwner) {
  struct stat model;
  ASSERT_EQ(::stat(path_.c_str(), &model), 0);
  for (const auto& [path, inode] : walk()) {
    const struct stat attributes = files_->entry(inode).attributes;
    const bool is_folder = S_ISDIR(attributes.st_mode);
    EXPECT_EQ(attributes.st_mode, is_folder ? S_IFDIR | 0555u : S_IFREG | 0444u) << path;
    EXPECT_EQ(attributes.st_uid, 1000u);
    EXPECT_EQ(attributes.st_gid, 2000u);
    EXPECT_EQ(attributes.st_mtim.tv_sec, model.st_mtim.tv_sec);
    EXPECT_EQ(attributes.st_mtim.tv_nsec, model.st_mtim.tv_nsec);
    EXPECT_TRUE(is_folder || attributes.st_nlink == 1) << path;
  }
  EXPECT_EQ(files_->entry(root).attributes.st_nlink, 8u);
  EXPECT_EQ(find("initializers").attributes.st_nlink, 3u);
  EXPECT_EQ(find("initializers/encoder").attributes.st_nlink, 2u);
}

TEST_F(FilesystemTest, UmaskTakesBitsOff) {
  open(testing::model(testing::graph({testing::scalar("a")})), {0, 0, 0027});
  EXPECT_EQ(find("initializers/a.bin").attributes.st_mode, S_IFREG | 0440u);
  EXPECT_EQ(find("initializers").attributes.st_mode, S_IFDIR | 0550u);
  EXPECT_EQ(files_->entry(root).attributes.st_mode, S_IFDIR | 0550u);
}

TEST_F(FilesystemTest, StatisticsCountWhatIsThere) {
  const struct statvfs statistics = files_->statistics();
  EXPECT_EQ(statistics.f_namemax, 255u);
  EXPECT_EQ(statistics.f_bfree, 0u);
  EXPECT_EQ(statistics.f_frsize * statistics.f_blocks, (8 + 4 + 8 + 40'008 + 4095) / 4096 * 4096u);
  const testing::Message claims = testing::tensor("a", testing::type::float32, {int64_t{1} << 60}).bytes(9, "none");
  open(testing::model(testing::graph({testing::tensor("b", 99, {1}).bytes(9, "x"), claims})));
  EXPECT_EQ(files_->statistics().f_blocks, 1u) << "what is broken has no bytes";
}

TEST_F(FilesystemTest, ModelWithoutTensorsHasNoInitializers) {
  open(testing::model(testing::Message()));
  std::set<std::string> paths;
  for (const auto& [path, inode] : walk()) paths.insert(path);
  EXPECT_EQ(paths, (std::set<std::string>{".onnxfs", ".onnxfs/edits.tsv", ".onnxfs/log.txt", ".onnxfs/status.json",
                                          "XXH128SUMS", "graph.txt", "index.tsv", "live", "live/model.onnx",
                                          "model.json", "model.safetensors"}));
}

}  // namespace
}  // namespace onnxfs
