#include "core/onnx/data_checksums.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"

namespace onnxfs {
namespace {

using testing::entry;
using testing::graph;
using testing::Message;
using testing::model;
using testing::tensor;

// Of "external data": what sha1sum says.
const std::string right = "7660021509b573eab3fec6aa351879369c1049db";
const std::string wrong(40, '0');

class DataChecksumsTest : public ::testing::Test {
 protected:
  static Message in_file(std::string_view location, const std::string& checksum) {
    std::vector<std::pair<std::string, std::string>> entries{{"location", std::string(location)}};
    if (!checksum.empty()) entries.emplace_back("checksum", checksum);
    return external(tensor("w", testing::type::uint8, {4}), entries);
  }

  std::vector<Finding> findings(const std::vector<Message>& tensors) {
    const auto opened = open_model(folder_, model(graph(tensors)));
    const DataChecksums checksums(*opened);
    size_ = checksums.size();
    hashed_ = 0;
    return checksums.verify([this](uint64_t done) { hashed_ = done; });
  }

  testing::TemporaryFolder folder_;
  std::string data_ = folder_.write("w.bin", "external data");
  uint64_t size_ = 0;
  uint64_t hashed_ = 0;
};

TEST_F(DataChecksumsTest, RightOnesAreSound) {
  std::string upper = right;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_TRUE(findings({in_file("w.bin", right), in_file("w.bin", upper), in_file("w.bin", "")}).empty());
  EXPECT_EQ(size_, 13u);
  EXPECT_EQ(hashed_, size_) << "once for all tensors";
}

TEST_F(DataChecksumsTest, NothingIsReadWithoutOne) {
  EXPECT_TRUE(findings({in_file("w.bin", ""), testing::scalar("s").bytes(12, "documented")}).empty());
  EXPECT_EQ(size_, 0u);
  EXPECT_EQ(hashed_, 0u);
}

TEST_F(DataChecksumsTest, WrongOnesNameTheTensorAndTheFile) {
  const auto found = findings({in_file("w.bin", ""), in_file("w.bin", wrong)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tensor, 1u);
  EXPECT_TRUE(found[0].offset.has_value());
  EXPECT_EQ(found[0].text, "its checksum entry is not the SHA-1 of \"w.bin\", which is " + right +
                               ": the file was edited since, as onnxfs commit does, or is damaged");
}

TEST_F(DataChecksumsTest, OneFindingForAllThatSayTheSame) {
  const std::string another(40, '1');
  const auto found = findings({in_file("w.bin", wrong), in_file("w.bin", right), in_file("w.bin", wrong),
                               in_file("w.bin", another), in_file("w.bin", wrong)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tensor, 0u);
  EXPECT_NE(found[0].text.find("(nor is that of 2 others)"), std::string::npos);
  EXPECT_EQ(found[1].tensor, 3u);
  EXPECT_EQ(hashed_, 13u);
}

TEST_F(DataChecksumsTest, WhatIsNoSha1IsSaid) {
  for (const std::string& text : {std::string("da39"), std::string(40, 'g'), right + "0", "sha1:" + right}) {
    const auto found = findings({in_file("w.bin", text)});
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].text, "its checksum \"" + text + "\" is no SHA-1 in hexadecimal");
    EXPECT_EQ(hashed_, 0u);
  }
}

TEST_F(DataChecksumsTest, FilesAreHashedWhole) {
  folder_.write("large.bin", std::string(3'000'000, 'x'));
  EXPECT_TRUE(findings({in_file("large.bin", "f252737c4c71dd6abe2f3c1e267ef94b76a5db7f")}).empty());
  EXPECT_EQ(hashed_, 3'000'000u);
}

TEST_F(DataChecksumsTest, FileThatChangesMeanwhileIsTrouble) {
  const auto opened = open_model(folder_, model(graph({in_file("w.bin", right)})));
  const DataChecksums checksums(*opened);
  std::filesystem::resize_file(data_, 5);
  EXPECT_ERROR(checksums.verify({}), ESTALE, "w.bin");
}

TEST_F(DataChecksumsTest, FilesWithChecksumsAreKnown) {
  folder_.write("v.bin", "four");
  const auto opened = open_model(folder_, model(graph({in_file("w.bin", ""), in_file("v.bin", right)})));
  const auto files = data_files_with_checksums(*opened);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(opened->catalog().data_files()[*files.begin()].location, "v.bin");
}

}  // namespace
}  // namespace onnxfs
