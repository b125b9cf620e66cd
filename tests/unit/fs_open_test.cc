// What the files of a mount hold, without a kernel.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "core/bytes/hash.h"
#include "tests/unit/filesystem_fixture.h"

namespace onnxfs {
namespace {

using testing::FilesystemTest;
using testing::graph;
using testing::Message;
using testing::model;
namespace type = testing::type;

using Json = nlohmann::json;

TEST_F(FilesystemTest, PayloadsAreTheTensorsBytes) {
  EXPECT_EQ(content("initializers/encoder/W.bin"), "12345678");
  EXPECT_EQ(content("initializers/bias.bin"), testing::float_bytes({1}));
  EXPECT_EQ(content("initializers/outside.bin"), "external");
  EXPECT_TRUE(files_->open(inode("initializers/bias.bin"), O_RDONLY)->keep_cache);
  EXPECT_FALSE(files_->open(inode("initializers/bias.bin"), O_RDONLY)->direct);
}

TEST_F(FilesystemTest, DocumentsAreTheirViews) {
  EXPECT_EQ(Json::parse(content("model.json"))["file"], "model.onnx");
  EXPECT_TRUE(
      content("index.tsv")
          .starts_with("path\tdtype\tshape\tnbytes\tstorage\ninitializers/encoder/W.bin\tfloat32\t[2]\t8\traw_data\n"));
  EXPECT_EQ(content("graph.txt"), "");
  EXPECT_TRUE(content("problems.txt").starts_with("initializers/broken: raw_data has 4 bytes"));
  const Json json = Json::parse(content("initializers/encoder/W.json"));
  EXPECT_EQ(json["name"], "encoder/W");
  EXPECT_EQ(json["scope"], "graph");
}

TEST_F(FilesystemTest, StatusIsMadeAnewForEachOpen) {
  const std::string first = content(".onnxfs/status.json"), second = content(".onnxfs/status.json");
  EXPECT_TRUE(first.starts_with("status ") && second.starts_with("status "));
  EXPECT_NE(first, second);
  EXPECT_TRUE(files_->open(inode(".onnxfs/status.json"), O_RDONLY)->direct);
  EXPECT_TRUE(files_->open(inode("problems.txt"), O_RDONLY)->direct);
  EXPECT_FALSE(files_->open(inode("model.json"), O_RDONLY)->direct);
  EXPECT_EQ(find(".onnxfs/status.json").attributes_valid, 0);
  EXPECT_GT(find("model.json").attributes_valid, 60);
}

TEST_F(FilesystemTest, NothingIsOpenedToWrite) {
  for (const std::string path :
       {"initializers/bias.bin", "initializers/bias.json", "model.json", ".onnxfs/status.json"}) {
    for (const int flags : {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_APPEND}) {
      EXPECT_ERROR(files_->open(inode(path), flags), EROFS, "read-only");
    }
    EXPECT_NO_THROW(files_->open(inode(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  }
}

TEST_F(FilesystemTest, FoldersAreNoFiles) {
  for (const uint64_t number : {root, inode("initializers"), inode("initializers/encoder")}) {
    EXPECT_ERROR(files_->open(number, O_RDONLY), EISDIR, "");
  }
}

TEST_F(FilesystemTest, BrokenTensorsAreListedAndCannotBeRead) {
  EXPECT_ERROR(files_->open(inode("initializers/broken.bin"), O_RDONLY), EIO,
               "raw_data has 4 bytes, float32[3] needs 12");
  EXPECT_EQ(Json::parse(content("initializers/broken.json"))["problem"], "raw_data has 4 bytes, float32[3] needs 12");
}

TEST_F(FilesystemTest, JsonTellsOfWhatOnlyReadingShows) {
  EXPECT_EQ(find("initializers/late.json").attributes_valid, 0);
  EXPECT_GT(find("initializers/bias.json").attributes_valid, 60);
  const auto file = files_->open(inode("initializers/late.json"), O_RDONLY);
  EXPECT_FALSE(file->keep_cache);
  EXPECT_EQ(Json::parse(file->content().text())["problem"], "int64_data has 5000 entries, its shape needs 5001");
  EXPECT_ERROR(files_->open(inode("initializers/late.bin"), O_RDONLY), EIO, "int64_data has 5000 entries");
}

TEST_F(FilesystemTest, ProblemsAppearWithTheFirstOfThem) {
  open(model(graph({testing::tensor("late", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300))})));
  std::optional<Absence> absence;
  files_->lookup(root, "problems.txt", absence);
  ASSERT_TRUE(absence);
  EXPECT_EQ(absence->valid, 0) << "it may be there a moment later";
  EXPECT_FALSE(walk().contains("problems.txt"));
  const timespec before = files_->entry(root).attributes.st_mtim;
  const auto list_before = testing::list(*files_, root);

  EXPECT_ERROR(files_->open(inode("initializers/late.bin"), O_RDONLY), EIO, "");
  EXPECT_TRUE(walk().contains("problems.txt"));
  EXPECT_TRUE(content("problems.txt").starts_with("initializers/late: int64_data has 5000 entries"));
  const timespec after = files_->entry(root).attributes.st_mtim;
  EXPECT_TRUE(before.tv_sec != after.tv_sec || before.tv_nsec != after.tv_nsec) << "the list changed";
  // The offsets of the other entries stay.
  std::map<std::string, uint64_t> offsets;
  for (const auto& entry : testing::list(*files_, root)) offsets[entry.name] = entry.next;
  for (const auto& entry : list_before) EXPECT_EQ(offsets[entry.name], entry.next) << entry.name;
}

TEST_F(FilesystemTest, ChangedFilesAreStale) {
  files_->open(inode("initializers/bias.bin"), O_RDONLY);
  ASSERT_EQ(::truncate((folder_ / "w.bin").c_str(), 5), 0);
  EXPECT_ERROR(files_->open(inode("initializers/outside.bin"), O_RDONLY), ESTALE, "w.bin changed on disk");
  EXPECT_EQ(content("initializers/bias.bin"), testing::float_bytes({1}));
  ASSERT_EQ(::truncate(path_.c_str(), 5), 0);
  EXPECT_ERROR(files_->open(inode("initializers/bias.bin"), O_RDONLY), ESTALE, "model.onnx changed on disk");
  EXPECT_ERROR(files_->open(inode("initializers/late.json"), O_RDONLY), ESTALE, "model.onnx changed on disk");
  EXPECT_NO_THROW(files_->entry(inode("initializers/bias.bin"))) << "it can still be listed";
  EXPECT_NO_THROW(files_->open(inode(".onnxfs/status.json"), O_RDONLY));
}

TEST_F(FilesystemTest, DocumentThatCannotBeMadeIsEmptyAndSaysWhy) {
  // The tensor in an attribute that refers to its function's caller; nobody looks at it before it is printed.
  open(model(Message().message(1, Message().message(5, Message().bytes(21, "outer").bytes(5, "\x0a\xff")))));
  EXPECT_EQ(find("graph.txt").attributes.st_size, 0);
  EXPECT_ERROR(files_->open(inode("graph.txt"), O_RDONLY), EIO, "truncated at offset");
  EXPECT_TRUE(walk().contains("graph.txt"));
}

TEST_F(FilesystemTest, OpenFileIsASnapshot) {
  const auto file = files_->open(inode("problems.txt"), O_RDONLY);
  const std::string before = file->content().text();
  EXPECT_ERROR(files_->open(inode("initializers/late.bin"), O_RDONLY), EIO, "");
  EXPECT_EQ(file->content().text(), before);
  EXPECT_NE(content("problems.txt"), before);
}

TEST_F(FilesystemTest, PayloadsHaveExtendedAttributes) {
  const uint64_t weight = inode("initializers/encoder/W.bin");
  EXPECT_EQ(files_->attribute_names(weight), (std::vector<std::string_view>{"user.onnx.name", "user.onnx.dtype",
                                                                            "user.onnx.shape", "user.onnx.xxh128"}));
  EXPECT_EQ(files_->attribute(weight, "user.onnx.name"), "encoder/W");
  EXPECT_EQ(files_->attribute(weight, "user.onnx.dtype"), "float32");
  EXPECT_EQ(files_->attribute(weight, "user.onnx.shape"), "[2]");
  EXPECT_EQ(files_->attribute(weight, "user.onnx.xxh128"), xxh128(Rope::of("12345678")));
  for (const std::string_view name : files_->attribute_names(weight)) {
    EXPECT_EQ(files_->attribute_size(weight, name), files_->attribute(weight, name).size()) << name;
  }
}

TEST_F(FilesystemTest, OtherExtendedAttributesAreNone) {
  const uint64_t weight = inode("initializers/bias.bin");
  for (const std::string name : {"user.onnx", "user.onnx.names", "security.selinux", "system.posix_acl_access", ""}) {
    EXPECT_ERROR(files_->attribute(weight, name), ENODATA, "");
    EXPECT_ERROR(files_->attribute_size(weight, name), ENODATA, "");
  }
  for (const std::string path : {"initializers/bias.json", "initializers", "model.json"}) {
    EXPECT_TRUE(files_->attribute_names(inode(path)).empty());
    EXPECT_ERROR(files_->attribute(inode(path), "user.onnx.name"), ENODATA, "");
    EXPECT_ERROR(files_->attribute_size(inode(path), "user.onnx.xxh128"), ENODATA, "");
  }
}

TEST_F(FilesystemTest, BrokenTensorsHaveNoHash) {
  const uint64_t broken = inode("initializers/broken.bin");
  EXPECT_EQ(files_->attribute_names(broken).size(), 3u);
  EXPECT_EQ(files_->attribute(broken, "user.onnx.name"), "broken");
  EXPECT_ERROR(files_->attribute(broken, "user.onnx.xxh128"), ENODATA, "");
  EXPECT_ERROR(files_->attribute_size(broken, "user.onnx.xxh128"), ENODATA, "");
}

TEST_F(FilesystemTest, ManyThreadsOpenAtOnce) {
  const std::string expected = content("model.json") + content("index.tsv");
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {
        good += content("model.json") + content("index.tsv") == expected &&
                content("initializers/outside.bin") == "external";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 6 * 30);
}

}  // namespace
}  // namespace onnxfs
