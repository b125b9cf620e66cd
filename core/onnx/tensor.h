#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "core/bytes/range.h"
#include "core/onnx/data_type.h"

namespace onnxfs {

// What a tensor is to its model.
enum class Kind : uint8_t { initializer, sparse_values, sparse_indices, attribute, delayed, value };

std::string_view name_of(Kind kind);

// Which of the ways to hold elements is in force.
enum class Storage : uint8_t {
  none,  // there are no elements, or no data
  raw_data,
  typed,  // the typed field of its data type, in a TensorProto
  external,
  attribute,  // a plain list, or single value, of an AttributeProto: the field of its data type there
  keys,       // of a MapProto
  delayed,    // a file that a node names
};

// One tensor of a model file: what the catalog knows of it without having touched its payload. A plain value whose
// views point into the catalog's arena.
struct Tensor {
  static constexpr uint32_t no_index = std::numeric_limits<uint32_t>::max();

  std::string_view name;  // its own name in the file, as true bytes; often empty in attributes
  std::string_view leaf;  // by what it is called in its section; goes through the rules for names
  std::span<const int64_t> dims;
  ByteRange message;  // of what holds it (a TensorProto, an attribute), in the model file
  ByteRange data;     // the payload where it stands in one piece: in the model file, or its data file
  uint64_t elements = 0;
  uint64_t nbytes = 0;  // of the payload
  int32_t data_type = undefined_type;
  uint32_t section = 0;  // where in the model it stands
  uint32_t scattered =
      no_index;  // in the catalog's list, when the message is in several pieces; `message` is the first
  uint32_t data_file = no_index;  // in the catalog's list, for external storage
  uint32_t problem = no_index;    // the finding that makes it broken
  Kind kind = Kind::initializer;
  Storage storage = Storage::none;
  bool elements_known = false;  // false when the shape is no shape: then `elements` is 0
  bool in_one_piece = false;    // whether `data` holds
  bool annotated = false;       // has a doc_string or a checksum, which are read again when asked for
  bool entries_counted = true;  // false: a long varint field, whose count is checked when it is first read

  bool broken() const noexcept { return problem != no_index; }
  const DataType* type() const noexcept { return find_data_type(data_type); }
};

// "raw_data", "int64_data", "external" …: the `storage` of the JSON sibling.
std::string_view storage_name(const Tensor& tensor);

}  // namespace onnxfs
