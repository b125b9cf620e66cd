#include "core/onnx/root.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <vector>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/onnx/settle.h"
#include "core/onnx/value_scanner.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

// A field of a message, and the wire types that it may have: 'v' varint, '4' four bytes, '8' eight, 'b' bytes.
struct FieldShape {
  uint32_t number;
  std::string_view types;
};

constexpr FieldShape model_shape[] = {{1, "v"}, {2, "b"}, {3, "b"},  {4, "b"},  {5, "v"},  {6, "b"},
                                      {7, "b"}, {8, "b"}, {14, "b"}, {20, "b"}, {25, "b"}, {26, "b"}};
constexpr FieldShape graph_shape[] = {{1, "b"},  {2, "b"},  {5, "b"},  {10, "b"}, {11, "b"},
                                      {12, "b"}, {13, "b"}, {14, "b"}, {15, "b"}, {16, "b"}};
constexpr FieldShape tensor_shape[] = {{1, "vb"},  {2, "v"},  {3, "b"},  {4, "4b"}, {5, "vb"},
                                       {6, "b"},   {7, "vb"}, {8, "b"},  {9, "b"},  {10, "8b"},
                                       {11, "vb"}, {12, "b"}, {13, "b"}, {14, "v"}, {16, "b"}};
constexpr FieldShape sequence_shape[] = {{1, "b"}, {2, "v"}, {3, "b"}, {4, "b"}, {5, "b"}, {6, "b"}, {7, "b"}};
constexpr FieldShape map_shape[] = {{1, "b"}, {2, "v"}, {3, "vb"}, {4, "b"}, {5, "b"}};
constexpr FieldShape sparse_shape[] = {{1, "b"}, {2, "b"}, {3, "vb"}};

char letter(Type type) {
  switch (type) {
    case Type::varint: return 'v';
    case Type::fixed32: return '4';
    case Type::fixed64: return '8';
    case Type::bytes: return 'b';
    default: return '?';
  }
}

bool has_shape(wire::Window& window, ByteRange range, std::span<const FieldShape> shape) {
  Reader reader(window, range);
  for (Field field; reader.next(field);) {
    const auto known = std::ranges::find(shape, field.number, &FieldShape::number);
    if (known == shape.end() || known->types.find(letter(field.type)) == std::string_view::npos) return false;
  }
  return true;
}

// A test that meets bytes which are no message says no.
template <typename Test>
bool passes(Test test) {
  try {
    return test();
  } catch (const Error& error) {
    if (error.code() != EBADMSG) throw;
    return false;
  }
}

class Recogniser {
 public:
  Recogniser(wire::Window& window, DataFiles& files) : window_(window), files_(files), all_{0, window.size()} {}

  Root run() {
    if (passes([&] { return is_model(); })) return Root::model;
    if (passes([&] { return is_tensor(all_); })) return Root::tensor;
    if (const auto root = sequence_or_optional(); root) return *root;
    if (passes([&] { return is_map(all_); })) return Root::map;
    if (passes([&] { return is_sparse_tensor(); })) return Root::sparse_tensor;
    fail(EINVAL, "is no file of ONNX: it reads neither as a model nor as a tensor, sequence, optional or map");
  }

  bool is_tensor(ByteRange range) {
    if (!has_shape(window_, range, tensor_shape)) return false;
    TensorFields fields;
    fields.scan(window_, range);
    if (find_data_type(fields.data_type) == nullptr) return false;
    if (fields.external && !fields.external_data.empty()) return true;
    std::vector<Remark> remarks;
    settle(fields, range, window_, files_, remarks);
    return std::ranges::none_of(remarks, &Remark::broken);
  }

 private:
  bool is_model() {
    if (!has_shape(window_, all_, model_shape)) return false;
    bool any_graph = false;
    Reader reader(window_, all_);
    for (Field field; reader.next(field);) {
      if (field.number != field::model::graph) continue;
      if (!has_shape(window_, field.payload, graph_shape)) return false;
      any_graph = true;
    }
    return any_graph;
  }

  std::optional<Root> sequence_or_optional() {
    std::optional<uint64_t> elem_type;
    uint64_t values = 0;
    uint32_t value_field = 0;
    const bool good = passes([&] {
      if (!has_shape(window_, all_, sequence_shape)) return false;
      Reader reader(window_, all_);
      for (Field field; reader.next(field);) {
        if (field.number == field::sequence::elem_type) elem_type = field.value;
        if (field.number < field::sequence::tensor) continue;
        if (value_field != 0 && value_field != field.number) return false;
        value_field = field.number;
        ++values;
      }
      // Types 1 … 5 have their values in the fields 3 … 7; 0 is of no type, and has none.
      return elem_type && *elem_type <= 5 && (values == 0 || (*elem_type != 0 && value_field == *elem_type + 2));
    });
    if (!good) return std::nullopt;
    return values > 1 ? Root::sequence : Root::sequence_or_optional;
  }

  bool is_map(ByteRange range) {
    if (!has_shape(window_, range, map_shape)) return false;
    uint64_t keys = 0, string_keys = 0, values = 0;
    int32_t key_type = undefined_type;
    Reader reader(window_, range);
    for (Field field; reader.next(field);) {
      switch (field.number) {
        case field::map::key_type: key_type = static_cast<int32_t>(field.value); break;
        case field::map::keys:
          keys += field.type == Type::varint
                      ? 1
                      : Reader(window_, field.payload).skip_varints(std::numeric_limits<uint64_t>::max());
          break;
        case field::map::string_keys: ++string_keys; break;
        case field::map::values: {
          Reader sequence(window_, field.payload);
          for (Field value; sequence.next(value);) values += value.number >= field::sequence::tensor;
          break;
        }
        default: break;
      }
    }
    if (!is_key_type(key_type)) return false;
    return key_type == string_type ? keys == 0 && string_keys == values : string_keys == 0 && keys == values;
  }

  bool is_sparse_tensor() {
    if (!has_shape(window_, all_, sparse_shape)) return false;
    bool values = false, indices = false;
    Reader reader(window_, all_);
    for (Field field; reader.next(field);) {
      if (field.number == field::sparse_tensor::dims) continue;
      if (!is_tensor(field.payload)) return false;
      (field.number == field::sparse_tensor::values ? values : indices) = true;
    }
    return values && indices;
  }

  wire::Window& window_;
  DataFiles& files_;
  ByteRange all_;
};

}  // namespace

std::string_view name_of(Root root) {
  switch (root) {
    case Root::model: return "ModelProto";
    case Root::tensor: return "TensorProto";
    case Root::sequence: return "SequenceProto";
    case Root::optional: return "OptionalProto";
    case Root::sequence_or_optional: return "SequenceProto or OptionalProto";
    case Root::map: return "MapProto";
    case Root::sparse_tensor: return "SparseTensorProto";
  }
  return "";
}

bool is_sound_tensor(wire::Window& window, DataFiles& files) {
  Recogniser recogniser(window, files);
  return passes([&] { return recogniser.is_tensor({0, window.size()}); });
}

Root recognise_root(wire::Window& window, DataFiles& files) { return Recogniser(window, files).run(); }

}  // namespace onnxfs
