#include "core/views/declarations.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/bytes/utf8.h"
#include "core/onnx/schema.h"
#include "core/views/node_line.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

using Names = std::vector<std::string>;

// The text of a field of a message; the last one, as protobuf has it.
std::string text_in(wire::Window& window, ByteRange message, uint32_t number) {
  std::string text;
  Reader reader(window, message);
  for (Field field; reader.next(field);) {
    if (field.is(number, Type::bytes)) text = window.text(field.payload);
  }
  return text;
}

std::string entry_text(wire::Window& window, ByteRange entry, std::string_view between) {
  return fmt::format("{}{}{}", plain_name(text_in(window, entry, field::entry::key)), between,
                     plain_name(text_in(window, entry, field::entry::value)));
}

std::string opset_text(wire::Window& window, ByteRange opset) {
  std::string domain;
  int64_t version = 0;
  Reader reader(window, opset);
  for (Field field; reader.next(field);) {
    if (field.is(field::opset::domain, Type::bytes)) domain = window.text(field.payload);
    if (field.is(field::opset::version, Type::varint)) version = static_cast<int64_t>(field.value);
  }
  return fmt::format("{}={}", plain_name(domain), version);
}

std::string annotation_text(wire::Window& window, ByteRange annotation) {
  std::string tensor;
  Names parameters;
  Reader reader(window, annotation);
  for (Field field; reader.next(field);) {
    if (field.is(field::annotation::tensor_name, Type::bytes)) tensor = window.text(field.payload);
    if (field.is(field::annotation::quant_parameter_tensor_names, Type::bytes)) {
      parameters.push_back(entry_text(window, field.payload, "="));
    }
  }
  std::ranges::sort(parameters);
  return fmt::format("quantization {} = {{{}}}", plain_name(tensor), fmt::join(parameters, ", "));
}

std::string signature(const Names& inputs, const Names& outputs) {
  return fmt::format("({}) -> ({})", fmt::join(inputs, ", "), fmt::join(outputs, ", "));
}

void append_line(std::string_view prefix, std::string_view text, std::string& lines) {
  if (!prefix.empty()) lines.append(prefix).append(": ");
  lines.append(text).append("\n");
}

}  // namespace

void append_graph_declarations(wire::Window& window, std::string_view prefix, const std::vector<ByteRange>& parts,
                               std::string& lines) {
  Names inputs, outputs;
  const auto add_value = [&](Names& names, ByteRange value) {
    const std::string name = text_in(window, value, field::value_info::name);
    if (!prefix.empty() || !is_utf8(name)) names.push_back(plain_name(name));
  };
  for (const ByteRange part : parts) {
    Reader reader(window, part);
    for (Field field; reader.next(field);) {
      if (field.is(field::graph::input, Type::bytes)) add_value(inputs, field.payload);
      if (field.is(field::graph::output, Type::bytes)) add_value(outputs, field.payload);
      if (field.is(field::graph::quantization_annotation, Type::bytes)) {
        append_line(prefix, annotation_text(window, field.payload), lines);
      }
    }
  }
  if (inputs.empty() && outputs.empty()) return;
  append_line(prefix, fmt::format("graph = {}", signature(inputs, outputs)), lines);
}

void append_function_declaration(wire::Window& window, std::string_view prefix, ByteRange function,
                                 std::string& lines) {
  Names inputs, outputs, attributes, opsets;
  Reader reader(window, function);
  for (Field field; reader.next(field);) {
    if (field.type != Type::bytes) continue;
    switch (field.number) {
      case field::function::input: inputs.push_back(plain_name(window.text(field.payload))); break;
      case field::function::output: outputs.push_back(plain_name(window.text(field.payload))); break;
      case field::function::attribute: attributes.push_back(plain_name(window.text(field.payload))); break;
      case field::function::attribute_proto:
        attributes.push_back(attribute_text(window, field.payload, LongStrings::by_hash));
        break;
      case field::function::opset_import: opsets.push_back(opset_text(window, field.payload)); break;
      default: break;
    }
  }
  std::ranges::sort(attributes);
  std::ranges::sort(opsets);
  append_line(prefix,
              fmt::format("function = {} {{{}}} opset {{{}}}", signature(inputs, outputs), fmt::join(attributes, ", "),
                          fmt::join(opsets, ", ")),
              lines);
}

void append_training_declarations(wire::Window& window, std::string_view prefix, ByteRange training,
                                  std::string& lines) {
  Reader reader(window, training);
  for (Field field; reader.next(field);) {
    const char* word = field.number == field::training::initialization_binding ? "initialization"
                       : field.number == field::training::update_binding       ? "update"
                                                                               : nullptr;
    if (word == nullptr || field.type != Type::bytes) continue;
    append_line(prefix, fmt::format("{} {}", word, entry_text(window, field.payload, " = ")), lines);
  }
}

}  // namespace onnxfs
