// A file system over a small model, and what is needed to look around in it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>

#include "fs/model_filesystem.h"
#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs::testing {

struct Listed {
  std::string name;
  uint64_t inode;
  mode_t type;
  uint64_t next;  // the offset of what follows

  bool operator==(const Listed&) const = default;
};

inline std::vector<Listed> list(const Filesystem& files, uint64_t folder, uint64_t offset = 0, size_t most = SIZE_MAX) {
  std::vector<Listed> result;
  files.list(folder, offset, [&](const std::string& name, uint64_t inode, mode_t type, uint64_t next) {
    if (result.size() == most) return false;
    result.push_back({name, inode, type, next});
    return true;
  });
  return result;
}

class FilesystemTest : public ::testing::Test {
 protected:
  static constexpr uint64_t root = Filesystem::root_inode;

  // The number of its tensors is chosen: those that are numbered like documents must not be taken for them.
  FilesystemTest() {
    folder_.write("w.bin", "external");
    open(model(graph({
        tensor("encoder/W", type::float32, {2}).bytes(9, "12345678"),
        scalar("bias"),
        external(tensor("outside", type::uint8, {8}), {{"location", "w.bin"}}),
        tensor("broken", type::float32, {3}).bytes(9, "1234"),
        tensor("late", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300)),
    })));
  }

  void open(const Message& message, Ownership ownership = {1000, 2000, 0}) {
    path_ = folder_.write("model.onnx", message.str());
    files_.reset();
    sidecar_ = Sidecar::open(Model::open(path_), sidecar_path(path_), "/mnt/test");
    files_ = std::make_unique<ModelFilesystem>(sidecar_, ownership,
                                               [this](const auto&) { return "status " + std::to_string(++asked_); });
  }

  // The entry at a path like "initializers/bias.bin", or one of inode 0.
  Entry find(const std::string& path) const {
    Entry entry = files_->entry(root);
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      std::optional<Absence> absence;
      entry = files_->lookup(entry.attributes.st_ino, path.substr(begin, end - begin), absence);
      if (absence) return {};
      begin = end + 1;
    }
    return entry;
  }
  uint64_t inode(const std::string& path) const {
    const uint64_t inode = find(path).attributes.st_ino;
    EXPECT_NE(inode, 0u) << path << " is not there";
    return inode;
  }
  std::string content(const std::string& path) const { return files_->open(inode(path), O_RDONLY)->content().text(); }

  // Every path, folders too, with its inode.
  std::map<std::string, uint64_t> walk() const {
    std::map<std::string, uint64_t> found;
    walk(root, "", found);
    return found;
  }

  TemporaryFolder folder_;
  std::string path_;
  std::shared_ptr<Sidecar> sidecar_;
  std::unique_ptr<ModelFilesystem> files_;
  int asked_ = 0;  // how often for the status

 private:
  void walk(uint64_t folder, const std::string& prefix, std::map<std::string, uint64_t>& found) const {
    for (const Listed& entry : list(*files_, folder)) {
      if (entry.name == "." || entry.name == "..") continue;
      EXPECT_TRUE(found.emplace(prefix + entry.name, entry.inode).second) << prefix + entry.name << " is listed twice";
      if (entry.type == S_IFDIR) walk(entry.inode, prefix + entry.name + "/", found);
    }
  }
};

}  // namespace onnxfs::testing
