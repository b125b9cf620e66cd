// Which of ONNX's messages a file is that has no type in its name.
#include "core/onnx/root.h"

#include <gtest/gtest.h>

#include "core/onnx/scan.h"
#include "tests/unit/allocations.h"
#include "tests/unit/placed.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::guarded;
using testing::Message;
using testing::scalar;
using testing::tensor;
namespace type = testing::type;

const Message numbers = tensor("w", type::int64, {2}).packed(7, {1, 2});

// A SequenceProto or OptionalProto of such elements, in the field for their type.
Message values_of(uint64_t elem_type, const std::vector<Message>& elements) {
  Message message = Message().varint(2, elem_type);
  for (const Message& element : elements) message.message(static_cast<uint32_t>(elem_type) + 2, element);
  return message;
}

Message map_of(int32_t key_type, const std::vector<uint64_t>& keys, const Message& values) {
  return Message().varint(2, static_cast<uint64_t>(key_type)).packed(3, keys).message(5, values);
}

class RootTest : public ::testing::Test {
 protected:
  std::string root(const Message& message) {
    wire::Window window(guarded(message.str()));
    DataFiles files(folder_.path(), "");
    try {
      return std::string(name_of(recognise_root(window, files)));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), EINVAL);
      return "none";
    }
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RootTest, ModelsAreModels) {
  EXPECT_EQ(root(testing::model(testing::graph({numbers}))), "ModelProto");
  EXPECT_EQ(root(testing::model(Message())), "ModelProto");
  EXPECT_EQ(root(Message().message(7, Message()).message(7, testing::graph({}))), "ModelProto");
}

TEST_F(RootTest, TensorsHaveTheDataThatTheirShapeNeeds) {
  folder_.write("w.bin", "12345678");
  EXPECT_EQ(root(numbers), "TensorProto");
  EXPECT_EQ(root(scalar("")), "TensorProto");
  EXPECT_EQ(root(tensor("", type::float32, {0})), "TensorProto");
  EXPECT_EQ(root(tensor("", type::string, {2}).bytes(6, "a").bytes(6, "")), "TensorProto");
  EXPECT_EQ(root(testing::external(tensor("w", type::float32, {2}), {{"location", "w.bin"}})), "TensorProto");
  EXPECT_EQ(root(testing::external(tensor("w", type::float32, {2}), {{"location", "missing"}})), "TensorProto");
  EXPECT_EQ(root(tensor("w", type::float32, {2}).bytes(9, "123")), "none");
  EXPECT_EQ(root(tensor("w", type::float32, {2})), "none");
  EXPECT_EQ(root(tensor("w", 99, {2}).bytes(9, "123")), "none");
}

TEST_F(RootTest, SequencesAndOptionalsHoldWhatTheirTypeSays) {
  const Message sequence = values_of(1, {numbers}), map = map_of(type::int64, {1}, sequence);
  EXPECT_EQ(root(values_of(1, {numbers, scalar("b")})), "SequenceProto");
  EXPECT_EQ(root(values_of(1, {numbers})), "SequenceProto or OptionalProto");
  EXPECT_EQ(root(values_of(1, {})), "SequenceProto or OptionalProto");
  EXPECT_EQ(root(Message().bytes(1, "optional_input").varint(2, 0)), "SequenceProto or OptionalProto");
  EXPECT_EQ(root(values_of(2, {testing::sparse("s", 1), testing::sparse("s", 1)})), "SequenceProto");
  EXPECT_EQ(root(values_of(3, {sequence, sequence})), "SequenceProto");
  EXPECT_EQ(root(values_of(4, {map, map})), "SequenceProto");
  EXPECT_EQ(root(values_of(5, {sequence, sequence})), "SequenceProto");
  EXPECT_EQ(root(Message().varint(2, 1).message(4, testing::sparse("s", 1))), "none");
  EXPECT_EQ(root(Message().varint(2, 1).message(3, numbers).message(4, testing::sparse("s", 1))), "none");
  EXPECT_EQ(root(Message().varint(2, 0).message(3, numbers)), "none");
  EXPECT_EQ(root(Message().message(3, numbers)), "none");
  EXPECT_EQ(root(values_of(1, {numbers}).varint(9, 1)), "none");
}

TEST_F(RootTest, MapsHaveAValueForEachKey) {
  const Message two = values_of(1, {numbers, numbers});
  EXPECT_EQ(root(map_of(type::int64, {1, 2}, two)), "MapProto");
  EXPECT_EQ(root(Message().bytes(1, "m").varint(2, 8).bytes(4, "a").bytes(4, "b").message(5, two)), "MapProto");
  EXPECT_EQ(root(map_of(type::int64, {1}, two)), "none");
  EXPECT_EQ(root(map_of(type::float32, {1, 2}, two)), "none");
  EXPECT_EQ(root(Message().varint(2, 8).bytes(4, "a").message(5, two)), "none");
  EXPECT_EQ(root(Message().varint(2, 8).packed(3, {1}).bytes(4, "a").bytes(4, "b").message(5, two)), "none");
}

TEST_F(RootTest, SparseTensorsAreTwoSoundTensors) {
  EXPECT_EQ(root(testing::sparse("s", 1)), "SparseTensorProto");
  EXPECT_EQ(root(Message().message(1, numbers).varint(3, 4)), "none");
  EXPECT_EQ(root(Message().message(1, numbers).message(2, tensor("", type::float32, {3})).varint(3, 4)), "none");
}

TEST_F(RootTest, OtherBytesAreNone) {
  EXPECT_EQ(root(Message().raw("\x07")), "none");
  EXPECT_EQ(root(Message().varint(100, 1)), "none");
  EXPECT_EQ(root(Message(numbers).raw("\x0a\xff")), "none");
  EXPECT_EQ(root(testing::graph({numbers})), "none");
  EXPECT_EQ(root(Message().varint(1, 8).message(7, Message().varint(1, 1))), "none") << "its graph is none";
}

TEST_F(RootTest, FileThatCannotBeReadIsThatError) {
  for (const int code : {EIO, ESTALE}) {
    wire::Window window(std::make_shared<testing::FailingSource>(100, code));
    DataFiles files(folder_.path(), "");
    EXPECT_ERROR(recognise_root(window, files), code, "on fire");
  }
}

TEST_F(RootTest, OnlyFilesOfAnyMessageAreTriedAsSuch) {
  const auto scan = [this](const Message& message, bool any) {
    return scan_catalog(guarded(message.str()), DataFiles(folder_.path(), ""), any).root();
  };
  EXPECT_EQ(scan(numbers, true), Root::tensor);
  EXPECT_ERROR(scan(numbers, false), EINVAL, "a single tensor (a TensorProto)");
  EXPECT_ERROR(scan(Message().varint(100, 1), true), EINVAL, "neither as a model nor as a tensor");
  EXPECT_ERROR(scan(Message(), true), EINVAL, "is empty");
}

// No test of what a file may be costs more than it is large, though each takes it for something else.
TEST_F(RootTest, AskingCostsNoMemory) {
  constexpr uint64_t size = 1 << 20;
  for (const uint32_t field : {3u, 5u, 7u, 9u, 11u}) {
    for (const uint64_t elem_type : {uint64_t{1}, uint64_t{6}, uint64_t{7}}) {
      const auto source = std::make_shared<testing::PatchworkSource>();
      source->text(Message().varint(2, elem_type).str() + testing::header_bytes(field, size));
      source->hole(size);
      wire::Window window(source);
      DataFiles files(folder_.path(), "");
      const testing::AllocationWatch watch;
      testing::caught([&] { recognise_root(window, files); });
      EXPECT_LE(watch.bytes(), size / 4) << "field " << field << " of type " << elem_type;
    }
  }
}

}  // namespace
}  // namespace onnxfs
