#include "core/views/node_line.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <ranges>

#include "core/bytes/utf8.h"
#include "core/onnx/metadata.h"
#include "core/onnx/schema.h"
#include "core/onnx/settle.h"
#include "core/onnx/tensor_fields.h"
#include "core/views/json_lines.h"
#include "core/views/model_json.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

constexpr size_t longest_list = 16;     // values that are written out
constexpr size_t longest_string = 128;  // bytes that are

// Strings up to this size are hashed when they are too long to write out; past it only their length is told.
constexpr uint64_t longest_hashed = uint64_t{1} << 20;

bool is_plain(std::string_view name) {
  constexpr std::string_view structure = " ,(){}=\"#[]";
  if (name.empty() || name.find_first_of(structure) != name.npos) return false;
  for (size_t length; !name.empty(); name.remove_prefix(length)) {
    length = utf8_length(name);
    if (length == 0 || is_control(name.substr(0, length))) return false;
  }
  return true;
}

// A list of values of which only the first few are kept.
class ShortList {
 public:
  template <typename Value>
  void add(Value value) {
    if (count_ < longest_list) text_ += fmt::format("{}{}", count_ == 0 ? "" : ", ", value);
    ++count_;
    hash_ = XXH3_64bits_withSeed(&value, sizeof value, hash_);
  }
  void add_text(const std::string& text) {
    if (count_ < longest_list) text_.append(count_ == 0 ? "" : ", ").append(text);
    ++count_;
    hash_ = XXH3_64bits_withSeed(text.data(), text.size(), hash_);
  }
  size_t count() const { return count_; }
  std::string text() const {
    if (count_ <= longest_list) return fmt::format("[{}]", text_);
    return fmt::format("[{}, ... {} values, xxh3 {:016x}]", text_, count_, hash_);
  }

 private:
  std::string text_;
  size_t count_ = 0;
  uint64_t hash_ = 0;
};

class AttributeText {
 public:
  AttributeText(wire::Window& window, ByteRange range, LongStrings long_strings)
      : window_(window), long_strings_(long_strings) {
    Reader reader(window, range);
    for (Field field; reader.next(field);) read(field);
  }

  const std::string& name() const { return name_; }

  std::string text() const {
    std::string value = value_;
    for (const ShortList* list : {&floats_, &ints_, &strings_, &tensors_, &sparse_, &types_}) {
      if (list->count() != 0) value = list->text();
    }
    if (!value_parts_.empty()) value = "graph";
    if (!graphs_.empty()) value = fmt::format("{} graphs", graphs_.size());
    return fmt::format("{}={}", plain_name(name_), value.empty() ? "[]" : value);
  }

  void take_graphs(std::vector<NestedGraph>& graphs) {
    if (!value_parts_.empty()) graphs.push_back({name_, std::move(value_parts_)});
    for (size_t i = 0; i < graphs_.size(); ++i) graphs.push_back({fmt::format("{}/{}", name_, i), {graphs_[i]}});
  }

 private:
  void read(const Field& field) {
    switch (field.number) {
      case field::attribute::floats: return read_floats(field);
      case field::attribute::ints: return read_ints(field);
      case field::attribute::i:
        if (field.type == Type::varint) value_ = fmt::to_string(static_cast<int64_t>(field.value));
        return;
      case field::attribute::f:
        if (field.type == Type::fixed32) value_ = fmt::to_string(read_float(field.payload.begin));
        return;
      default: break;
    }
    if (field.type != Type::bytes) return;
    switch (field.number) {
      case field::attribute::name: name_ = window_.text(field.payload); break;
      case field::attribute::s: value_ = string_text(field.payload); break;
      case field::attribute::t: value_ = tensor_text(field.payload); break;
      case field::attribute::g: value_parts_.push_back(field.payload); break;
      case field::attribute::strings: strings_.add_text(string_text(field.payload)); break;
      case field::attribute::tensors: tensors_.add_text(tensor_text(field.payload)); break;
      case field::attribute::graphs: graphs_.push_back(field.payload); break;
      case field::attribute::tp: value_ = type_text(field.payload); break;
      case field::attribute::type_protos: types_.add_text(type_text(field.payload)); break;
      case field::attribute::ref_attr_name: value_ = fmt::format("@{}", plain_name(window_.text(field.payload))); break;
      case field::attribute::sparse_tensor: value_ = sparse_text(field.payload); break;
      case field::attribute::sparse_tensors: sparse_.add_text(sparse_text(field.payload)); break;
      default: break;
    }
  }

  float read_float(uint64_t offset) {
    uint8_t bytes[4];
    window_.copy(offset, std::as_writable_bytes(std::span(bytes)));
    return std::bit_cast<float>(uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
                                uint32_t{bytes[3]} << 24);
  }

  void read_floats(const Field& field) {
    if (field.type != Type::fixed32 && field.type != Type::bytes) return;
    for (uint64_t at = field.payload.begin; fits(at, 4, field.payload.end); at += 4) floats_.add(read_float(at));
  }

  void read_ints(const Field& field) {
    if (field.type == Type::varint) ints_.add(static_cast<int64_t>(field.value));
    if (field.type != Type::bytes) return;
    Reader numbers(window_, field.payload);
    for (uint64_t value; numbers.next_varint(value);) ints_.add(static_cast<int64_t>(value));
  }

  std::string string_text(ByteRange range) {
    if (range.size() <= longest_string) return exact_json_quote(window_.text(range));
    const std::string begin = exact_json_quote(window_.text({range.begin, range.begin + longest_string}));
    if (range.size() > longest_hashed && long_strings_ == LongStrings::by_length) {
      return fmt::format("{}... {} bytes", begin, range.size());
    }
    return fmt::format("{}... {} bytes, xxh3 {:016x}", begin, range.size(), hash_of(range));
  }

  uint64_t hash_of(ByteRange range) {
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
    if (!state) throw std::bad_alloc();
    XXH3_64bits_reset(state.get());
    while (!range.empty()) {
      const auto some = window_.at(range.begin, static_cast<size_t>(std::min<uint64_t>(range.size(), 64 * 1024)));
      XXH3_64bits_update(state.get(), some.data(), some.size());
      range.begin += some.size();
    }
    return XXH3_64bits_digest(state.get());
  }

  std::string type_text(ByteRange range) {
    proto::TypeProto type;
    if (type.ParseFromString(window_.text(range))) return type_json(type);
    return fmt::format("type of {} bytes, xxh3 {:016x}", range.size(), hash_of(range));  // corrupt, or nested too deep
  }

  std::string tensor_text(ByteRange range) {
    TensorFields fields;
    fields.scan(window_, range);
    return describe(fields.data_type, fields.dims);
  }

  std::string sparse_text(ByteRange range) {
    TensorFields values;
    std::vector<int64_t> dims;
    Reader reader(window_, range);
    for (Field field; reader.next(field);) {
      if (field.is(field::sparse_tensor::values, Type::bytes)) values.scan(window_, field.payload);
      if (field.number == field::sparse_tensor::dims) wire::read_integers(window_, field, dims);
    }
    return fmt::format("sparse {}", describe(values.data_type, dims));
  }

  wire::Window& window_;
  std::string name_;
  std::string value_;
  LongStrings long_strings_;
  ShortList floats_, ints_, strings_, tensors_, sparse_, types_;
  std::vector<ByteRange> value_parts_;  // of the one graph
  std::vector<ByteRange> graphs_;       // of the list
};

}  // namespace

std::string plain_name(std::string_view name) { return is_plain(name) ? std::string(name) : exact_json_quote(name); }

std::string attribute_text(wire::Window& window, ByteRange attribute, LongStrings long_strings) {
  return AttributeText(window, attribute, long_strings).text();
}

NodeLine node_line(wire::Window& window, ByteRange node, LongStrings long_strings) {
  std::vector<std::string> inputs, outputs;
  std::string name, op_type, domain, overload;
  std::vector<std::pair<std::string, std::string>> attributes;  // name, text
  NodeLine line;
  Reader reader(window, node);
  for (Field field; reader.next(field);) {
    if (field.type != Type::bytes) continue;
    switch (field.number) {
      case field::node::input: inputs.push_back(plain_name(window.text(field.payload))); break;
      case field::node::output:
        if (outputs.empty()) line.label = window.text(field.payload);
        outputs.push_back(plain_name(window.text(field.payload)));
        break;
      case field::node::name: name = window.text(field.payload); break;
      case field::node::op_type: op_type = window.text(field.payload); break;
      case field::node::domain: domain = window.text(field.payload); break;
      case field::node::overload: overload = window.text(field.payload); break;
      case field::node::attribute: {
        AttributeText attribute(window, field.payload, long_strings);
        attributes.emplace_back(attribute.name(), attribute.text());
        attribute.take_graphs(line.graphs);
        break;
      }
      default: break;
    }
  }
  std::ranges::stable_sort(attributes, {}, [](const auto& attribute) { return attribute.first; });
  if (!outputs.empty()) line.text = fmt::format("{} = ", fmt::join(outputs, ", "));
  if (!domain.empty()) line.text += plain_name(domain) + ".";
  line.text += plain_name(op_type);
  if (!overload.empty()) line.text.append(":").append(plain_name(overload));
  line.text += fmt::format("({})", fmt::join(inputs, ", "));
  if (!attributes.empty()) line.text += fmt::format(" {{{}}}", fmt::join(attributes | std::views::values, ", "));
  if (!name.empty()) {
    line.text.append(" # ").append(plain_name(name));
    line.label = std::move(name);
  }
  return line;
}

}  // namespace onnxfs
