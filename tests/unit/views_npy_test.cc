#include "core/views/npy.h"

#include "core/views/npy_header.h"
#include "core/views/sub_byte.h"
#include "tests/unit/allocations.h"
#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using testing::AllocationWatch;
using testing::content_of;
using testing::Dims;
using testing::guarded;
using testing::random_content;
namespace type = testing::type;

std::vector<const DataType*> types_with_npy() {
  std::vector<const DataType*> types;
  for (const DataType& type : all_data_types()) {
    if (type.number != string_type) types.push_back(&type);
  }
  return types;
}

size_t width_of(const DataType& type) { return std::max(type.bits, 8u) / 8; }

// As np.save writes it, in either order.
std::string npy_file(const std::string& descr, const std::string& shape, const std::string& data,
                     const std::string& fortran_order = "False") {
  std::string dictionary =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }";
  dictionary.resize((dictionary.size() + 11 + 63) / 64 * 64 - 11, ' ');
  dictionary += '\n';
  return std::string("\x93NUMPY\1\0", 8) + testing::fixed_bytes(dictionary.size(), 2) + dictionary + data;
}

std::string parsed(const std::string& file, const TensorContent& content) {
  return parse_npy(Rope::of(guarded(file)), content.tensor).text();
}

TEST(Npy, IsAHeaderAndThePayload) {
  const TensorContent content = content_of(type::float32, {2, 1}, "abcdefgh");
  const Rope file = npy(content);
  EXPECT_EQ(file.text(), npy_header("<f4", Dims{2, 1}) + "abcdefgh");
  ASSERT_EQ(file.extents().size(), 2u);
  EXPECT_EQ(file.extents()[1].source, content.payload.extents()[0].source);
}

TEST(Npy, TypesHaveNumpysNamesOrAnUnsignedStandIn) {
  const auto descr = [](int32_t number) {
    return read_npy_header(npy(random_content(*find_data_type(number), 3, 1))).descr;
  };
  EXPECT_EQ(descr(type::boolean), "|b1");
  EXPECT_EQ(descr(type::int64), "<i8");
  EXPECT_EQ(descr(type::complex128), "<c16");
  EXPECT_EQ(descr(type::bfloat16), "<u2");
  EXPECT_EQ(descr(17), "|u1");
  EXPECT_EQ(descr(type::int4), "|i1");
  EXPECT_EQ(descr(21), "|u1");
  EXPECT_EQ(descr(26), "|i1");
  EXPECT_EQ(descr(25), "|u1");
  EXPECT_EQ(descr(23), "|u1");
  EXPECT_EQ(descr(type::float6), "|u1");
}

TEST(Npy, PackedElementsAreAByteEach) {
  EXPECT_TRUE(npy(content_of(type::int4, {3}, "\x21\x0f")).text().ends_with("\n\x01\x02\xff"));
}

TEST(Npy, OfStringsThereIsNone) {
  EXPECT_FALSE(has_npy(testing::strings_content({"a"}).tensor));
  EXPECT_TRUE(has_npy(content_of(99, {}, "a").tensor));
}

TEST(Npy, UnknownTypesAreARowOfBytes) {
  const TensorContent content = content_of(99, {7, -1}, "abc");
  EXPECT_EQ(npy(content).text(), npy_header("|u1", Dims{3}) + "abc");
  EXPECT_EQ(npy_size(content), 67u + 64);
}

TEST(Npy, EveryTypeComesBackFromItsOwnFile) {
  for (const DataType* type : types_with_npy()) {
    for (const uint64_t elements : {0, 1, 2, 3, 5, 8, 13, 10'001}) {
      SCOPED_TRACE(std::string(type->name) + " " + std::to_string(elements));
      const TensorContent content = random_content(*type, elements, elements);
      const Rope file = npy(content);
      EXPECT_EQ(npy_size(content), file.size());
      EXPECT_EQ(file.size() % 64, elements * width_of(*type) % 64);
      testing::expect_reads_alike(file, file.text());
      const std::string payload = content.payload.text();
      testing::expect_reads_alike(parse_npy(Rope::of(guarded(file.text())), content.tensor), payload);
    }
  }
}

TEST(Npy, AScalarHasNoDimensions) {
  for (const DataType* type : types_with_npy()) {
    const TensorContent content = content_of(type->number, {}, testing::random_payload(*type, 1, 5));
    EXPECT_TRUE(read_npy_header(npy(content)).shape.empty());
    EXPECT_EQ(parsed(npy(content).text(), content), content.payload.text());
  }
}

TEST(Npy, SizeAndFileNeedNoPayloadAndNoMemory) {
  for (const DataType* type : types_with_npy()) {
    constexpr uint64_t elements = uint64_t{1} << 45;
    const TensorContent content = testing::unreadable_content(*type, elements);
    const AllocationWatch watch;
    const uint64_t size = npy_size(content);
    EXPECT_EQ(size % 64, 0u);
    EXPECT_EQ(size, npy(content).size());
    EXPECT_LE(watch.bytes(), 4096u);
  }
}

TEST(Npy, WhatNoFileCanHoldIsRefused) {
  TensorContent content = content_of(25, {INT64_MAX}, "");
  content.tensor.nbytes = *payload_size(*find_data_type(25), INT64_MAX);
  EXPECT_ERROR(npy_size(content), EOVERFLOW, "larger than any file");
}

TEST(NpyParse, TheShapeIsFreeButNotItsCount) {
  const TensorContent content = content_of(type::int16, {2, 3}, "xxxxxxxxxxxx");
  const std::string data = "abcdefghijkl";
  for (const char* shape : {"(2, 3)", "(6,)", "(3, 2)", "(1, 6, 1)"}) {
    EXPECT_EQ(parsed(npy_file("<i2", shape, data), content), data);
  }
  EXPECT_ERROR(parsed(npy_file("<i2", "(5,)", data), content), EINVAL, "no .npy for tensor w: it has 5 elements; 6");
  EXPECT_ERROR(parsed(npy_file("<i2", "()", data), content), EINVAL, "it has 1 elements; 6");
  EXPECT_ERROR(parsed(npy_file("<i2", "(0, 18446744073709551615)", ""), content), EINVAL, "it has 0 elements");
  EXPECT_ERROR(parsed(npy_file("<i2", "(18446744073709551615, 2)", data), content), EINVAL, "more elements than any");
}

TEST(NpyParse, TheDataFillTheRestOfTheFile) {
  const TensorContent content = content_of(type::int16, {3}, "xxxxxx");
  EXPECT_ERROR(parsed(npy_file("<i2", "(3,)", "abcde"), content), EINVAL, "5 bytes follow its header");
  EXPECT_ERROR(parsed(npy_file("<i2", "(3,)", "abcdefg"), content), EINVAL, "7 bytes follow its header");
  EXPECT_ERROR(parsed("no header", content), EINVAL, "no .npy for tensor w: it is no .npy file");
}

TEST(NpyParse, TheTypeIsTheTensors) {
  const TensorContent content = content_of(type::float32, {1}, "xxxx");
  for (const char* descr : {">f4", "<i4", "<u4", "<f8", "|f4", "=f4", "|V4", "<V4", "|O", "<U1", "", "f4"}) {
    EXPECT_ERROR(parsed(npy_file(descr, "(1,)", "abcd"), content), EINVAL, "'<f4' is needed");
  }
  EXPECT_ERROR(parsed(npy_file(">f4", "(1,)", "abcd"), content), EINVAL, "'>f4', big-endian");
  const TensorContent boolean = content_of(type::boolean, {1}, "x");
  EXPECT_EQ(parsed(npy_file("|b1", "()", "\1"), boolean), "\1");
  EXPECT_ERROR(parsed(npy_file("|V1", "()", "\1"), boolean), EINVAL, "'|b1' is needed");
  EXPECT_ERROR(parsed(npy_file("|u1", "()", "\1"), boolean), EINVAL, "'|b1' is needed");
}

// What np.save makes of arrays of ml_dtypes.
TEST(NpyParse, TypesThatNumpyLacksMayBeBytesWithoutAMeaning) {
  for (const char* descr : {"<u2", "<V2", "|V2"}) {
    EXPECT_EQ(parsed(npy_file(descr, "(1,)", "ab"), content_of(type::bfloat16, {1}, "xx")), "ab");
  }
  for (const char* descr : {"|u1", "<u1", "|V1", "<V1"}) {
    EXPECT_EQ(parsed(npy_file(descr, "(1,)", "a"), content_of(17, {1}, "x")), "a");
  }
  for (const char* descr : {"|i1", "|V1", "<V1"}) {
    EXPECT_EQ(parsed(npy_file(descr, "(2,)", "\xff\x01"), content_of(type::int4, {2}, "x")), "\x1f");
  }
  EXPECT_ERROR(parsed(npy_file("|u1", "(2,)", "\x01\x01"), content_of(type::int4, {2}, "x")), EINVAL, "'|i1'");
  EXPECT_ERROR(parsed(npy_file("<V1", "(1,)", "a"), content_of(type::uint8, {1}, "x")), EINVAL, "'|u1'");
  EXPECT_ERROR(parsed(npy_file("<f2", "(1,)", "ab"), content_of(type::bfloat16, {1}, "xx")), EINVAL, "'<u2'");
  EXPECT_ERROR(parsed(npy_file("<V2", "(1,)", "ab"), content_of(type::float16, {1}, "xx")), EINVAL, "'<f2'");
}

TEST(NpyParse, PackedElementsOutOfRangeAreRefused) {
  EXPECT_ERROR(parsed(npy_file("|i1", "(2,)", "\x01\x09"), content_of(type::int4, {2}, "x")), EINVAL,
               "no .npy for tensor w: element 1 is 9; int4 holds -8 to 7");
}

TEST(NpyParse, FortransOrderIsPermuted) {
  const TensorContent content = content_of(type::int16, {2, 3}, "xxxxxxxxxxxx");
  EXPECT_EQ(parsed(npy_file("<i2", "(2, 3)", "aAdDbBeEcCfF", "True"), content), "aAbBcCdDeEfF");
  EXPECT_EQ(parsed(npy_file("<i2", "(1, 6)", "abcdefghijkl", "True"), content), "abcdefghijkl");
  EXPECT_EQ(parsed(npy_file("|i1", "(2, 2)", "\x01\x03\x02\x04", "True"), content_of(type::int4, {4}, "xx")),
            "\x21\x43");
  EXPECT_EQ(parsed(npy_file("<i2", "(2, 0, 2)", "", "True"), content_of(type::int16, {0}, "")), "");
}

TEST(NpyParse, HoldsNoneOfTheElements) {
  for (const int32_t number : {type::float32, type::uint2, type::int4}) {
    auto file = std::make_shared<testing::PatchworkSource>();
    constexpr int64_t elements = 1 << 22;
    const TensorContent content = content_of(number, {2, elements / 2}, Rope());
    const std::string descr = number == type::float32 ? "<f4" : number == type::int4 ? "|i1" : "|u1";
    file->text(npy_file(descr, "(2, 2097152)", "", "True")).hole(number == type::float32 ? 4 * elements : elements);
    const Rope rope = Rope::of(file);
    const AllocationWatch watch;
    EXPECT_EQ(parse_npy(rope, content.tensor).size(), *payload_size(*content.tensor.type(), elements));
    EXPECT_LE(watch.bytes(), 16 * 1024u);
  }
}

}  // namespace
}  // namespace onnxfs
