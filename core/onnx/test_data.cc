#include "core/onnx/test_data.h"

#include <onnx.pb.h>

#include <charconv>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/file_source.h"
#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

struct Parameter {
  uint32_t field;   // of GraphProto: input or output
  uint64_t number;  // which of them
};

std::optional<Parameter> parameter_of(const std::string& stem) {
  for (const auto& [word, field] : {std::pair{"input_", field::graph::input}, {"output_", field::graph::output}}) {
    if (!stem.starts_with(word)) continue;
    const std::string_view digits = std::string_view(stem).substr(std::string_view(word).size());
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size()) return Parameter{field, number};
  }
  return std::nullopt;
}

std::optional<proto::TypeProto> type_of(const std::string& model_path, Parameter parameter) {
  wire::Window window(FileSource::open(model_path));
  Reader model(window, {0, window.size()});
  for (Field part; model.next(part);) {
    if (!part.is(field::model::graph, Type::bytes)) continue;
    Reader graph(window, part.payload);
    for (Field field; graph.next(field);) {
      if (!field.is(parameter.field, Type::bytes) || parameter.number-- != 0) continue;
      proto::ValueInfoProto value;
      if (!value.ParseFromString(window.text(field.payload))) return std::nullopt;
      return value.type();
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Root> root_by_model_beside(const std::string& path) {
  const auto file = std::filesystem::absolute(path).lexically_normal();
  const auto parameter = parameter_of(file.stem());
  if (!parameter) return std::nullopt;
  try {
    const auto type = type_of(file.parent_path().parent_path() / "model.onnx", *parameter);
    if (type && type->has_sequence_type()) return Root::sequence;
    if (type && type->has_optional_type()) return Root::optional;
  } catch (const Error&) {
    // There is no such model, or it cannot be read: it does not say.
  }
  return std::nullopt;
}

}  // namespace onnxfs
