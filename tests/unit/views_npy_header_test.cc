#include "core/views/npy_header.h"

#include <gtest/gtest.h>

#include "tests/unit/allocations.h"
#include "tests/unit/errors.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using Shape = std::vector<uint64_t>;

std::string file(const std::string& dictionary, char major = 1) {
  const size_t width = major == 1 ? 2 : 4;
  return "\x93NUMPY" + std::string{major, '\0'} + testing::fixed_bytes(dictionary.size(), width) + dictionary;
}

NpyHeader read(const std::string& bytes) { return read_npy_header(Rope::of(testing::guarded(bytes))); }

TEST(NpyHeader, IsAsNumpyWritesIt) {
  const std::string header = npy_header("<f4", std::vector<int64_t>{64, 3, 7, 7});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 70), "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 3, 7, 7), }    ");
  EXPECT_EQ(header.back(), '\n');
}

TEST(NpyHeader, ShapesAreTuples) {
  const auto shape = [](const std::vector<int64_t>& dims) {
    const std::string header = npy_header("|u1", dims);
    EXPECT_EQ(header.size() % 64, 0u);
    return header.substr(header.find('('), header.find(')') - header.find('(') + 1);
  };
  EXPECT_EQ(shape({}), "()");
  EXPECT_EQ(shape({0}), "(0,)");
  EXPECT_EQ(shape({7}), "(7,)");
  EXPECT_EQ(shape({7, 0}), "(7, 0)");
}

TEST(NpyHeader, OfAnyLengthBeginsTheDataAtAMultipleOf64) {
  for (size_t count = 0; count < 100; ++count) {
    const std::string header = npy_header("<c16", std::vector<int64_t>(count, 3));
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(read(header).shape, Shape(count, 3));
    EXPECT_EQ(read(header).data_begin, header.size());
  }
}

TEST(NpyHeader, Version2IsForWhatVersion1CannotHold) {
  const std::vector<int64_t> longest_of_1((0xfff6 - 60) / 3, 1), longer(30'000, 1);
  EXPECT_EQ(npy_header("<f4", longest_of_1)[6], 1);
  const std::string header = npy_header("<f4", longer);
  EXPECT_EQ(header[6], 2);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(read(header).shape, Shape(30'000, 1));
}

TEST(NpyHeader, AllVersionsAreRead) {
  const std::string dictionary = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }   \n";
  for (const char major : {'\1', '\2', '\3'}) {
    const NpyHeader header = read(file(dictionary, major) + "data");
    EXPECT_EQ(header.descr, "<i2");
    EXPECT_TRUE(header.fortran_order);
    EXPECT_EQ(header.shape, (Shape{2, 3}));
    EXPECT_EQ(header.data_begin, 8 + (major == 1 ? 2u : 4u) + dictionary.size());
  }
}

TEST(NpyHeader, ItsTextIsFree) {
  for (const char* dictionary : {
           "{\"shape\":(2,3),\"descr\":\"<i2\",\"fortran_order\":False}",
           "{ 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , 'descr' : '<i2' , } \n \n",
           "\n{'descr':'<i2','fortran_order':False,'shape':(2L, 3L)}",
       }) {
    const NpyHeader header = read(file(dictionary));
    EXPECT_EQ(header.descr, "<i2");
    EXPECT_FALSE(header.fortran_order);
    EXPECT_EQ(header.shape, (Shape{2, 3}));
  }
}

TEST(NpyHeader, WhatIsNoneIsRefused) {
  EXPECT_ERROR(read(""), EINVAL, "is no .npy file");
  EXPECT_ERROR(read("\x93NUMPY\1"), EINVAL, "is no .npy file");
  EXPECT_ERROR(read("PK\3\4 an .npz, perhaps"), EINVAL, "is no .npy file");
  EXPECT_ERROR(read(file("{}", 4)), EINVAL, "format is 4.0");
  EXPECT_ERROR(read(file("{}", 0)), EINVAL, "format is 0.0");
  EXPECT_ERROR(read("\x93NUMPY\1\1abcdef"), EINVAL, "format is 1.1");
  EXPECT_ERROR(read(std::string("\x93NUMPY\1\0\1", 9)), EINVAL, "ends in its header, after 9 bytes");
  EXPECT_ERROR(read(std::string("\x93NUMPY\2\0\1\0\0", 11)), EINVAL, "ends in its header, after 11 bytes");
}

TEST(NpyHeader, BadDictionariesAreRefused) {
  const auto refused = [](const std::string& dictionary, const char* part) {
    EXPECT_ERROR(read(file(dictionary)), EINVAL, part);
  };
  refused("", "lacks a \"{\"");
  refused("{", "lacks a string");
  refused("{'descr': '<f4'", "lacks a \"}\"");
  refused("{'descr' '<f4'}", "lacks a \":\"");
  refused("{'descr': '<f4}", "does not end");
  refused("{'descr': '<f\\x34'}", "escape");
  refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "structures");
  refused("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "neither True nor False");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': 3}", "lacks a \"(\"");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "\"-3,)}\" for a number");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3.5,)}", "lacks a \")\"");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "for a number");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3}", "lacks a \")\"");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}", "lacks a \")\"");
  refused("{'descr': '<f4', 'fortran_order': False}", "lacks one of");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", "key \"x\"");
  refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "twice");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': ()} import os", "behind its dictionary");
  refused("{'\x1b[31m\n': 1}", "key \"%1B[31m%0A\"");
}

TEST(NpyHeader, ClaimedLengthsCostNothing) {
  for (const uint64_t length : {uint64_t{0x100}, uint64_t{0xffff'ffff}}) {
    const Rope rope = Rope::of(std::string("\x93NUMPY\2\0", 8) + testing::fixed_bytes(length, 4) + "{'descr'");
    const testing::AllocationWatch watch;
    EXPECT_ERROR(read_npy_header(rope), EINVAL, "ends in its header");
    EXPECT_LE(watch.bytes(), 4096u);
  }
  auto large = std::make_shared<testing::PatchworkSource>();
  large->text(std::string("\x93NUMPY\2\0", 8) + testing::fixed_bytes(0xffff'ff00, 4)).hole(uint64_t{1} << 33);
  const Rope rope = Rope::of(large);
  const testing::AllocationWatch watch;
  EXPECT_ERROR(read_npy_header(rope), EINVAL, "more than any shape needs");
  EXPECT_LE(watch.bytes(), 4096u);
}

}  // namespace
}  // namespace onnxfs
