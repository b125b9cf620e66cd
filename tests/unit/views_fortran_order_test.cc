#include "core/views/fortran_order.h"

#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using Shape = std::vector<uint64_t>;

// The same elements with the first index running fastest.
std::string column_major(const std::string& rows, size_t width, const Shape& dims) {
  std::string result(rows.size(), '\0');
  for (size_t i = 0; i < rows.size() / width; ++i) {
    size_t rest = i, position = 0, stride = rows.size() / width;
    for (size_t axis = dims.size(); axis-- != 0; rest /= dims[axis]) {
      stride /= dims[axis];
      position += rest % dims[axis] * stride;
    }
    result.replace(position * width, width, rows, i * width, width);
  }
  return result;
}

std::string random_bytes(size_t size) {
  return testing::random_payload(*find_data_type(testing::type::uint8), size, size);
}

TEST(FortranOrder, IsPermuted) {
  EXPECT_EQ(testing::read_all(*row_major(Rope::of("adbecf"), 1, Shape{2, 3})), "abcdef");
  EXPECT_EQ(testing::read_all(*row_major(Rope::of("aebfcgdh"), 1, Shape{2, 1, 4})), "abcdefgh");
}

TEST(FortranOrder, EveryRangeIsRight) {
  for (const Shape& dims : {Shape{2, 3}, Shape{3, 2, 2}, Shape{1, 4, 1, 3}, Shape{5, 1}, Shape{2, 2, 2, 2}}) {
    for (const size_t width : {1, 2, 4}) {
      size_t count = 1;
      for (const uint64_t dim : dims) count *= dim;
      const std::string rows = random_bytes(count * width);
      const Rope file = Rope::of(testing::guarded(column_major(rows, width, dims)));
      testing::expect_every_read_alike(Rope::of(row_major(file, width, dims)), rows);
    }
  }
}

TEST(FortranOrder, LargeArraysAreRightWhereverTheyAreRead) {
  for (const Shape& dims : {Shape{300, 500}, Shape{3, 50'000}, Shape{50'000, 3}, Shape{40, 50, 60}}) {
    for (const size_t width : {1, 8, 16}) {
      size_t count = 1;
      for (const uint64_t dim : dims) count *= dim;
      const std::string rows = random_bytes(count * width);
      const Rope file = Rope::of(testing::guarded(column_major(rows, width, dims)));
      testing::expect_reads_alike(Rope::of(row_major(file, width, dims)), rows);
    }
  }
}

// Of several blocks, whose borders are in the middle of rows.
TEST(FortranOrder, ArraysLargerThanABlockAreRightWhereverTheyAreRead) {
  for (const Shape& dims : {Shape{1'201, 1'003}, Shape{3, 400'001}, Shape{400'001, 3}, Shape{11, 10, 11'001}}) {
    constexpr size_t width = 8;
    size_t count = 1;
    for (const uint64_t dim : dims) count *= dim;
    const std::string rows = random_bytes(count * width);
    const Rope file = Rope::of(testing::guarded(column_major(rows, width, dims)));
    testing::expect_reads_alike(Rope::of(row_major(file, width, dims)), rows);
  }
}

TEST(FortranOrder, IsStaleWhenItsBytesAre) {
  const SourcePtr failing = std::make_shared<testing::FailingSource>(6, ESTALE);
  EXPECT_ERROR(row_major(Rope::of(failing), 1, Shape{2, 3})->require_current(), ESTALE, "on fire");
}

}  // namespace
}  // namespace onnxfs
