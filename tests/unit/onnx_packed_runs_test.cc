#include <gtest/gtest.h>

#include "core/onnx/typed_source.h"
#include "tests/unit/layouts.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::Message;

// The runs as text, or "none".
std::string runs(const Message& message, int32_t data_type, size_t most = 10) {
  Tensor tensor;
  tensor.message = {0, message.size()};
  tensor.data_type = data_type;
  const std::vector<Extent> extents = packed_runs(testing::guarded(message.str()), testing::layout_of(tensor), most);
  return extents.empty() ? "none" : Rope(extents).text();
}

const Message floats = Message().varint(1, 4).bytes(4, "aaaa").bytes(8, "name").bytes(4, "bbbbcccc").bytes(4, "");

TEST(PackedRuns, AreTheFloatsWhereTheyStand) {
  EXPECT_EQ(runs(floats, 1), "aaaabbbbcccc");
  EXPECT_EQ(runs(floats, 14), "aaaabbbbcccc");
  EXPECT_EQ(runs(Message().bytes(10, "12345678").bytes(4, "ffff").bytes(10, "abcdefgh"), 11), "12345678abcdefgh");
  EXPECT_EQ(runs(Message().bytes(10, "12345678"), 15), "12345678");
}

TEST(PackedRuns, AreNoneBesideUnpackedEntries) {
  EXPECT_EQ(runs(Message(floats).fixed32(4, 1), 1), "none");
  EXPECT_EQ(runs(Message().fixed32(4, 1).bytes(4, "aaaa"), 1), "none");
  EXPECT_EQ(runs(Message().fixed64(10, 1).bytes(10, "12345678"), 11), "none");
}

TEST(PackedRuns, OtherWireTypesAreNoEntries) {
  EXPECT_EQ(runs(Message(floats).varint(4, 1).fixed64(4, 1).group(4, Message()), 1), "aaaabbbbcccc");
  EXPECT_EQ(runs(Message().bytes(10, "12345678").fixed32(10, 1), 11), "12345678");
}

TEST(PackedRuns, AreNoneWhenThereAreTooMany) {
  EXPECT_EQ(runs(floats, 1, 3), "aaaabbbbcccc");
  EXPECT_EQ(runs(floats, 1, 2), "none");
}

TEST(PackedRuns, AreNoneOfAnotherField) {
  EXPECT_EQ(runs(Message().packed(5, {1, 2}), 6), "none");
  EXPECT_EQ(runs(Message().packed(7, {1, 2}), 7), "none");
  EXPECT_EQ(runs(Message().bytes(6, "text"), 8), "none");
  EXPECT_EQ(runs(floats, 11), "none");
}

}  // namespace
}  // namespace onnxfs
