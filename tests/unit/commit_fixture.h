// A model with tensors in every kind of place, in a folder of its own, with edits that wait to be committed.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/sidecar/commit.h"
#include "core/sidecar/sidecar.h"
#include "tests/unit/edits.h"
#include "tests/unit/errors.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/placed.h"
#include "tests/unit/sidecar_fixture.h"

namespace onnxfs::testing {

class CommitTest : public ::testing::Test {
 protected:
  CommitTest() {
    folder_.folder("m");
    std::filesystem::create_directories(folder_ / "m/sub");
    write_model();
  }

  static constexpr size_t large = 300'000;  // enough to be copied inside the kernel

  static Message in_file(std::string_view name, std::string_view location, uint64_t offset) {
    return external(tensor(name, type::uint8, {8}),
                    {{"location", std::string(location)}, {"offset", fmt::to_string(offset)}});
  }

  static std::string model_bytes(std::string_view first_location = "w.bin") {
    return model(graph({
                     tensor("large", type::uint8, {large}).bytes(9, std::string(large, 'L')),
                     tensor("raw", type::uint8, {8}).bytes(9, "rrrrrrrr"),
                     tensor("ints", type::int64, {2}).packed(7, {1, 300}),
                     tensor("text", type::string, {2}).bytes(6, "one").bytes(6, "two"),
                     in_file("w", first_location, 4),
                     in_file("tied", first_location, 4),
                     in_file("v", "sub/v.bin", 0),
                 }))
        .str();
  }

  void write_model() {
    folder_.write("m/w.bin",
                  "head"
                  "wwwwwwww"
                  "tail");
    folder_.write("m/sub/v.bin", "vvvvvvvv");
    path_ = folder_.write("m/model.onnx", model_bytes());
  }

  std::string sidecar_folder() const { return path_ + ".sidecar"; }

  // Edits in the sidecar; each call opens it anew.
  template <typename Work>
  void edit(Work work) {
    const auto model = Model::open(path_);
    const auto sidecar = Sidecar::open(model, sidecar_folder(), "a test", disk_);
    work(*sidecar, places(*model));
  }
  void write(const std::string& tensor, uint64_t offset, std::string_view bytes) {
    edit([&](Sidecar& sidecar, const auto& places) {
      sidecar.write(places.at("initializers/" + tensor), offset, bytes_of(bytes));
    });
  }
  void replace(const std::string& tensor, std::string_view bytes) {
    edit([&](Sidecar& sidecar, const auto& places) {
      const auto stage = sidecar.stage();
      stage->write(0, bytes_of(bytes));
      sidecar.replace(places.at("initializers/" + tensor), *stage);
    });
  }
  void annotate(const std::string& tensor, const std::vector<int64_t>& dims, const std::string& doc) {
    edit([&](Sidecar& sidecar, const auto& places) {
      sidecar.annotate(places.at("initializers/" + tensor), &dims, &doc);
    });
  }

  // Edits of every kind, in the model and in a data file.
  void edit_all() {
    write("large", 1000, "edited");
    write("ints", 8, std::string("\x07\0\0\0\0\0\0\0", 8));
    replace("text", string_bytes({"a longer string", ""}));
    annotate("raw", {2, 4}, "documented");
    write("w", 2, "WW");
  }

  // What the model is to be: each tensor with its edits.
  std::vector<TensorState> edited_states() {
    const auto model = Model::open(path_);
    const auto sidecar = Sidecar::open(model, sidecar_folder(), "a test");
    std::vector<TensorState> result = states(*model);
    for (const auto& [index, edit] : sidecar->edits().snapshot()) {
      if (edit->payload) result[index].payload = edit->payload->text();
      if (edit->dims) result[index].dims = *edit->dims;
      if (edit->doc_string) result[index].doc_string = *edit->doc_string;
    }
    return result;
  }

  CommitReport commit_model(CommitOptions options = {}, Disk* disk = nullptr) {
    options.sidecar = sidecar_folder();
    return commit(path_, options, disk == nullptr ? disk_ : *disk);
  }
  CommitReport commit_in_place(Disk* disk = nullptr) { return commit_model({.in_place = true}, disk); }
  CommitReport commit_to(const std::string& output, Disk* disk = nullptr) {
    return commit_model({.output = output}, disk);
  }

  // The names of all files beneath a folder but a sidecar's.
  std::vector<std::string> files_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = std::filesystem::relative(entry.path(), folder);
      if (!entry.is_directory() && name.find(".sidecar/") == name.npos) names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

  bool has_sidecar() const { return std::filesystem::exists(sidecar_folder()); }

  static struct stat status(const std::string& path) {
    struct stat result;
    EXPECT_EQ(::lstat(path.c_str(), &result), 0) << path;
    return result;
  }

  TemporaryFolder folder_;
  std::string path_;
  FaultyDisk disk_;  // that flushes nothing, which takes long
};

inline void expect_states(const std::string& path, const std::vector<TensorState>& expected) {
  const std::vector<TensorState> found = states(*Model::open(path));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << i;
}

}  // namespace onnxfs::testing
