#include "core/onnx/model.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::external;
using testing::float_bytes;
using testing::graph;
using testing::Message;
using testing::model;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

class ModelTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const std::vector<Message>& tensors) {
    return testing::open_model(folder_, model(graph(tensors)));
  }
  std::string path(const std::string& name = "model.onnx") const { return folder_ / name; }

  testing::TemporaryFolder folder_;
};

// What only reading shows to be wrong: a long run with one number too few.
Message late() { return tensor("late", type::int64, {5001}).packed(7, std::vector<uint64_t>(5000, 300)); }

TEST_F(ModelTest, PayloadIsTheSameWhateverHoldsIt) {
  const std::string bytes = float_bytes({1, -2, 0.5});
  folder_.write("w.bin", "pad" + bytes + "rest");
  const Message in_parts =
      tensor("w", type::float32, {3}).bytes(4, bytes.substr(0, 4)).bytes(8, "w").bytes(4, bytes.substr(4));
  const auto model = open({
      tensor("w", type::float32, {3}).bytes(9, bytes),
      tensor("w", type::float32, {3}).bytes(4, bytes),
      in_parts,
      tensor("w", type::float32, {3}).number(4, 1).number(4, -2).number(4, 0.5),
      external(tensor("w", type::float32, {3}), {{"location", "w.bin"}, {"offset", "3"}}),
  });
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(model->payload(i).text(), bytes) << i;
    EXPECT_EQ(model->problem(i), "");
  }
  EXPECT_EQ(model->payload(2).extents().size(), 2u);
  EXPECT_EQ(model->payload(2).extents()[0].source, model->file());
  EXPECT_EQ(model->name(), "model.onnx");
  EXPECT_EQ(model->file_name_of(model->catalog().tensors()[0]), "model.onnx");
  EXPECT_EQ(model->file_name_of(model->catalog().tensors()[4]), "w.bin");
}

TEST_F(ModelTest, PackedRunsOfAnyNumberAreRead) {
  for (const size_t count : {1000u, 1024u, 1025u, 3000u}) {
    Message many = tensor("w", type::float32, {static_cast<int64_t>(count)});
    std::string bytes;
    for (size_t i = 0; i < count; ++i) {
      const std::string value = float_bytes({static_cast<float>(i)});
      many.bytes(4, value);
      bytes += value;
    }
    EXPECT_TRUE(open({many})->payload(0).text() == bytes) << count;
  }
}

// Finding where the numbers of a long run stand is a pass over it, which is not made again for each open.
TEST_F(ModelTest, LongRunsAreIndexedOnce) {
  const auto model = open({tensor("c", type::int64, {5000}).packed(7, std::vector<uint64_t>(5000, 300))});
  const Rope first = model->payload(0), second = model->payload(0);
  ASSERT_EQ(first.extents().size(), 1u);
  EXPECT_EQ(first.extents()[0].source, second.extents()[0].source);
}

TEST_F(ModelTest, NoElementsAreNoBytes) {
  const auto model = open({tensor("a", type::float32, {0}), tensor("b", type::string, {2, 0}),
                           tensor("c", type::float32, {0}).bytes(9, "data"),
                           external(tensor("d", type::float32, {0}), {{"location", "missing"}})});
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(model->payload(i).size(), 0u);
}

TEST_F(ModelTest, BrokenTensorsCannotBeRead) {
  const auto model = open({tensor("a", type::float32, {3}).bytes(9, "1234"), scalar("b")});
  EXPECT_ERROR(model->payload(0), EIO, "raw_data has 4 bytes, float32[3] needs 12");
  EXPECT_EQ(model->problem(0), "raw_data has 4 bytes, float32[3] needs 12");
  EXPECT_EQ(model->payload(1).size(), 4u);
}

TEST_F(ModelTest, WhatReadingShowsIsAFindingFromThenOn) {
  const auto model = open({scalar("a"), late()});
  EXPECT_EQ(model->problem(1), "");
  EXPECT_TRUE(model->findings().empty());
  const std::string reason = "int64_data has 5000 entries, its shape needs 5001";
  for (int i = 0; i < 2; ++i) {
    EXPECT_ERROR(model->payload(1), EIO, reason);
    EXPECT_EQ(model->problem(1), reason);
    ASSERT_EQ(model->findings().size(), 1u);
    EXPECT_EQ(model->findings()[0].tensor, 1u);
    EXPECT_EQ(model->findings()[0].text, reason);
    EXPECT_EQ(model->findings()[0].offset, model->catalog().tensors()[1].message.begin);
  }
  EXPECT_EQ(model->problem(0), "");
}

// No length of four bytes says how long it is. The file is a hole.
TEST_F(ModelTest, ProblemIsToldForEveryTensorThatCannotBeRead) {
  constexpr uint64_t size = uint64_t{1} << 32;
  const std::string head = tensor("s", type::string, {1}).str() + testing::header_bytes(6, size);
  const std::string initializer = testing::header_bytes(5, head.size() + size) + head;
  const std::string file =
      folder_.write("model.onnx", testing::header_bytes(7, initializer.size() + size) + initializer);
  ASSERT_EQ(::truncate(file.c_str(), static_cast<off_t>(std::filesystem::file_size(file) + size)), 0);
  const auto model = Model::open(file);
  EXPECT_NE(model->problem(0), "") << "it is known from its header";
  EXPECT_ERROR(model->payload(0), EIO, "a string of 4294967296 bytes");
  EXPECT_NE(model->problem(0), "");
}

TEST_F(ModelTest, FilesOver2GbAreOrdinary) {
  constexpr uint64_t size = uint64_t{3} << 30;
  const std::string large = tensor("large", type::uint8, {size}).str() + testing::header_bytes(9, size);
  const std::string first = testing::header_bytes(5, large.size() + size) + large;
  const std::string second = Message().message(5, tensor("last", type::uint8, {4}).bytes(9, "last")).str();
  const uint64_t graph_size = first.size() + size + second.size();
  const std::string head = testing::header_bytes(7, graph_size) + first;
  const std::string file = folder_.write("model.onnx", head);
  ASSERT_EQ(::truncate(file.c_str(), static_cast<off_t>(head.size() + size)), 0);
  std::ofstream(file, std::ios::app) << second;
  const auto model = Model::open(file);
  ASSERT_EQ(model->catalog().tensors().size(), 2u);
  EXPECT_EQ(model->payload(1).text(), "last");
  EXPECT_EQ(model->payload(0).size(), size);
}

TEST_F(ModelTest, SaysWhatCannotBeOpened) {
  EXPECT_ERROR(Model::open(path("none")), ENOENT, path("none"));
  EXPECT_ERROR(Model::open(folder_.path()), EISDIR, folder_.path());
  EXPECT_ERROR(Model::open(folder_.write("e", "")), EINVAL, path("e") + " is empty");
  EXPECT_ERROR(Model::open(folder_.write("z", "PK\x03\x04 and more")), EINVAL, path("z") + " is a zip archive");
  EXPECT_ERROR(Model::open(folder_.write("t", scalar("w").varint(1, 1).str())), EINVAL, path("t") + " is no model");
  EXPECT_ERROR(Model::open(folder_.write("n", Message().varint(1, 8).str())), EINVAL, path("n") + " is no ONNX model");
  EXPECT_ERROR(Model::open(folder_.write("c", "\x08\x01\x3a\x05\x0a")), EBADMSG,
               path("c") + " is no sound ONNX model: truncated at offset 5");
}

void write_anew(const std::string& path, const std::string& bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_TRUNC));
  ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

TEST_F(ModelTest, ChangedFilesAreStale) {
  folder_.write("w.bin", "1234");
  const auto model = open({scalar("a"), external(tensor("b", type::float32, {1}), {{"location", "w.bin"}}),
                           tensor("c", type::int64, {5000}).packed(7, std::vector<uint64_t>(5000, 300))});
  const Rope inside = model->payload(0), outside = model->payload(1);
  write_anew(path("w.bin"), "12345");
  EXPECT_ERROR(outside.text(), ESTALE, "w.bin changed on disk");
  EXPECT_NO_THROW(inside.text());
  write_anew(path(), "short");
  EXPECT_ERROR(inside.text(), ESTALE, "model.onnx changed on disk");
  EXPECT_ERROR(model->payload(2), ESTALE, "model.onnx changed on disk");
  EXPECT_EQ(model->problem(2), "") << "a change of the file is no problem of the tensor";
}

TEST_F(ModelTest, ReplacedFileGoesOnAsItWas) {
  const auto first = open({scalar("a"), tensor("c", type::int64, {3}).packed(7, {1, 2, 3})});
  const std::string other = folder_.write("other", model(graph({scalar("z")})).str());
  ASSERT_EQ(::rename(other.c_str(), path().c_str()), 0);
  EXPECT_EQ(first->payload(0).text(), float_bytes({1}));
  EXPECT_EQ(first->payload(1).size(), 24u);
  EXPECT_EQ(Model::open(path())->catalog().tensors()[0].name, "z");
}

TEST_F(ModelTest, ManyThreadsAskAtOnce) {
  std::vector<Message> tensors;
  for (int i = 0; i < 8; ++i) {
    tensors.push_back(
        tensor("w", type::int64, {5000}).packed(7, std::vector<uint64_t>(5000, static_cast<uint64_t>(i))));
  }
  tensors.push_back(late());
  const auto model = open(tensors);
  std::atomic<int> right = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < 8; ++i) {
        const std::string text = model->payload(i).text();
        right += text.size() == 40'000 && text[8] == static_cast<char>(i);
      }
      refused += testing::caught([&] { model->payload(8); }).code == EIO;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 6 * 8);
  EXPECT_EQ(refused, 6);
  EXPECT_EQ(model->findings().size(), 8u);  // seven of them on names that repeat
}

}  // namespace
}  // namespace onnxfs
