// The messages of an ONNX model, as far as tests need them.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/model.h"
#include "tests/unit/message.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs::testing {

// TensorProto.DataType, for those that tests name.
namespace type {
constexpr int32_t undefined = 0, float32 = 1, uint8 = 2, int8 = 3, uint16 = 4, int16 = 5, int32 = 6, int64 = 7,
                  string = 8, boolean = 9, float16 = 10, float64 = 11, uint32 = 12, uint64 = 13, complex64 = 14,
                  complex128 = 15, bfloat16 = 16, int4 = 22, uint2 = 25, float6 = 27;
}

using Dims = std::vector<int64_t>;

// A TensorProto that still lacks its data.
inline Message tensor(std::string_view name, int32_t data_type, const Dims& dims) {
  Message message;
  for (const int64_t dim : dims) message.varint(1, static_cast<uint64_t>(dim));
  return message.varint(2, static_cast<uint64_t>(data_type)).bytes(8, name);
}

inline std::string float_bytes(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A sound tensor of one float.
inline Message scalar(std::string_view name) { return tensor(name, type::float32, {}).bytes(9, float_bytes({1})); }

// A StringStringEntryProto.
inline Message entry(std::string_view key, std::string_view value) { return Message().bytes(1, key).bytes(2, value); }

inline Message external(Message tensor, const std::vector<std::pair<std::string, std::string>>& entries) {
  for (const auto& [key, value] : entries) tensor.message(13, entry(key, value));
  return tensor.varint(14, 1);
}

inline Message node(std::string_view op_type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, std::string_view name = "") {
  Message message;
  for (const std::string& input : inputs) message.bytes(1, input);
  for (const std::string& output : outputs) message.bytes(2, output);
  if (!name.empty()) message.bytes(3, name);
  return message.bytes(4, op_type);
}

// A GraphProto of initializers.
inline Message graph(const std::vector<Message>& tensors) {
  Message message = Message().bytes(2, "g");
  for (const Message& tensor : tensors) message.message(5, tensor);
  return message;
}

inline Message model(const Message& graph) {
  return Message()
      .varint(1, 8)
      .bytes(2, "unit test")
      .message(7, graph)
      .message(8, Message().bytes(1, "").varint(2, 17));
}

inline std::shared_ptr<const Model> open_model(const TemporaryFolder& folder, const Message& model,
                                               std::string_view name = "model.onnx") {
  return Model::open(folder.write(name, model.str()));
}

}  // namespace onnxfs::testing
