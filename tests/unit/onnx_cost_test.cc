// Opening a model costs its number of tensors, never its bytes, and no allocation follows a length that it claims.
#include <gtest/gtest.h>

#include "core/onnx/scan.h"
#include "core/onnx/typed_source.h"
#include "tests/unit/allocations.h"
#include "tests/unit/errors.h"
#include "tests/unit/layouts.h"
#include "tests/unit/models.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::AllocationWatch;
using testing::graph;
using testing::guarded;
using testing::header_bytes;
using testing::Message;
using testing::model;
using testing::PatchworkSource;
using testing::tag_bytes;
using testing::tensor;
using testing::varint_bytes;
namespace type = testing::type;

constexpr uint64_t mebi = 1 << 20;

class CostTest : public ::testing::Test {
 protected:
  DataFiles files() const { return {folder_.path(), ""}; }

  // Scans what may be no model, and returns how many bytes that allocated.
  uint64_t allocated(const std::string& bytes) {
    const SourcePtr source = guarded(bytes);
    DataFiles files = this->files();
    const AllocationWatch watch;
    error_ = testing::caught([&] { scan_catalog(source, std::move(files), false); });
    return watch.bytes();
  }

  testing::TemporaryFolder folder_;
  testing::Caught error_;
};

// A model of `count` tensors of `size` bytes each, of which only the headers take memory.
std::shared_ptr<PatchworkSource> large_model(size_t count, uint64_t size) {
  std::vector<std::string> headers;
  uint64_t graph_size = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string head =
        tensor("tensor." + std::to_string(i), type::uint8, {static_cast<int64_t>(size)}).str() + header_bytes(9, size);
    headers.push_back(header_bytes(5, head.size() + size) + head);
    graph_size += headers.back().size() + size;
  }
  auto source = std::make_shared<PatchworkSource>();
  source->text(Message().varint(1, 8).str() + header_bytes(7, graph_size));
  for (const std::string& header : headers) source->text(header).hole(size);
  return source;
}

TEST_F(CostTest, PayloadsAreNotRead) {
  const auto source = large_model(300, 50 * mebi);
  const Catalog catalog = scan_catalog(source, files(), false);
  ASSERT_EQ(catalog.tensors().size(), 300u);
  EXPECT_TRUE(catalog.findings().empty());
  EXPECT_LE(source->bytes_read(), 300 * 8192u + 64 * 1024);
}

TEST_F(CostTest, FilesMayBeOfAnySize) {
  const auto source = large_model(3, uint64_t{1} << 40);
  const Catalog catalog = scan_catalog(source, files(), false);
  ASSERT_EQ(catalog.tensors().size(), 3u);
  EXPECT_FALSE(catalog.tensors()[2].broken());
  EXPECT_EQ(catalog.tensors()[2].nbytes, uint64_t{1} << 40);
}

TEST_F(CostTest, ATensorCostsAFewHundredBytesOfMemory) {
  constexpr size_t count = 50'000;
  const auto source = large_model(count, 1000);
  DataFiles files = this->files();
  const AllocationWatch watch;
  const Catalog catalog = scan_catalog(source, std::move(files), false);
  EXPECT_EQ(catalog.tensors().size(), count);
  EXPECT_LE(watch.bytes(), count * 400);
}

TEST_F(CostTest, ClaimedElementsCostNothing) {
  const auto claim = [](int32_t data_type, const testing::Dims& dims) { return tensor("w", data_type, dims); };
  const Message claims[] = {
      claim(type::float32, {int64_t{1} << 60}),
      claim(type::float32, {int64_t{1} << 60}).bytes(9, "1234"),
      claim(type::int64, {int64_t{1} << 60}).packed(7, {1}),
      claim(type::string, {int64_t{1} << 60}).bytes(6, "s"),
      claim(type::int4, {INT64_MAX}).varint(5, 1),
      claim(type::complex128, {int64_t{1} << 40, int64_t{1} << 40}),
      testing::external(claim(type::float32, {int64_t{1} << 60}),
                        {{"location", "w.bin"}, {"length", "4611686018427387904"}}),
  };
  folder_.write("w.bin", "data");
  for (const Message& message : claims) {
    EXPECT_LE(allocated(model(graph({message})).str()), 2 * 64 * 1024u);
    EXPECT_EQ(error_.code, 0) << error_.text;
  }
}

TEST_F(CostTest, ClaimedLengthsCostNothing) {
  for (const uint64_t length : {uint64_t{1} << 31, uint64_t{1} << 60, UINT64_MAX}) {
    const std::string claim = varint_bytes(length);
    const std::string graph_claims = tag_bytes(7, 2) + claim;
    const std::string tensor_claims = Message().bytes(7, tag_bytes(5, 2) + claim).str();
    std::vector<std::string> all{graph_claims, tensor_claims};
    for (uint32_t field = 1; field <= 16; ++field) {
      const Message message = Message().message(5, Message().raw(tag_bytes(field, 2) + claim));
      all.push_back(Message().message(7, message).str());
    }
    for (const std::string& bytes : all) {
      EXPECT_LE(allocated(Message().varint(1, 8).str() + bytes), 2 * 64 * 1024u);
      EXPECT_EQ(error_.code, EBADMSG) << error_.text;
    }
  }
}

TEST_F(CostTest, ClaimedEntriesCostNothingWhenTheyAreRead) {
  const Message message = tensor("w", type::int64, {int64_t{1} << 50}).packed(7, std::vector<uint64_t>(5000, 1));
  Tensor claimed;
  claimed.message = {0, message.size()};
  claimed.data_type = type::int64;
  claimed.elements = uint64_t{1} << 50;
  claimed.nbytes = uint64_t{1} << 53;
  const SourcePtr source = guarded(message.str());
  const AllocationWatch watch;
  EXPECT_ERROR(TypedSource(source, testing::layout_of(claimed)), EBADMSG, "has 5000 entries");
  EXPECT_LE(watch.bytes(), 2 * 64 * 1024u);
}

// The index of a field of N entries is a small part of the field.
TEST_F(CostTest, IndexOfATypedFieldIsSmall) {
  constexpr uint64_t count = 4'000'000;
  const auto source = std::make_shared<PatchworkSource>();
  source->text(header_bytes(7, count)).hole(count);
  Tensor numbers;
  numbers.message = {0, source->size()};
  numbers.data_type = type::int64;
  numbers.elements = count;
  numbers.nbytes = 8 * count;
  const AllocationWatch watch;
  const TypedSource typed(source, testing::layout_of(numbers));
  EXPECT_LE(watch.bytes(), 64 * 1024 + count / 20);
}

// Each nested thing of two bytes, many times.
TEST_F(CostTest, ManySmallThingsCostTheirNumber) {
  constexpr size_t count = 20'000;
  Message empty_tensors, empty_graphs, entries;
  for (size_t i = 0; i < count; ++i) {
    empty_tensors.bytes(5, "");
    empty_graphs.bytes(7, "");
    entries.bytes(13, "");
  }
  EXPECT_LE(allocated(model(empty_tensors).str()), count * 1000);
  EXPECT_LE(allocated(empty_graphs.str()), count * 100);
  EXPECT_LE(allocated(model(graph({tensor("w", 1, {1}).append(entries.str()).varint(14, 1)})).str()), count * 1000);
}

}  // namespace
}  // namespace onnxfs
