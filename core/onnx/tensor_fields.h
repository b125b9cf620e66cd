#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/bytes/range.h"
#include "core/onnx/data_type.h"
#include "core/onnx/entry_values.h"
#include "core/wire/window.h"

namespace onnxfs {

// The occurrences of one typed field in a TensorProto. Fixed-size entries, strings, unpacked varints and short
// packed runs are counted; of a long packed run of varints only bounds are known without reading it.
struct TypedOccurrences {
  uint64_t fewest = 0;    // entries
  uint64_t most = 0;      // entries
  uint64_t bytes = 0;     // of string_data: the sum of the strings' lengths
  uint64_t longest = 0;   // of string_data: the length of the longest
  uint64_t packed = 0;    // occurrences in packed form
  uint64_t unpacked = 0;  // entries outside of packed runs
  ByteRange first_packed;
  EntryValues values;  // of varints, when they are all counted

  bool counted() const noexcept { return fewest == most; }
};

// What stands in a TensorProto, by field, before anything is concluded from it (see settle.h): occurrences merged as
// protobuf merges them, values not looked at. Ranges are in the scanned source. Made to be used again and again, so
// that a model of many tensors allocates for the largest of them once.
struct TensorFields {
  struct Entry {  // of external_data
    ByteRange key;
    ByteRange value;
    uint64_t begin = 0;
  };

  std::vector<int64_t> dims;
  int32_t data_type = undefined_type;
  ByteRange name;
  std::optional<ByteRange> raw_data;  // present but empty is not absent
  std::optional<ByteRange> doc_string;
  std::vector<Entry> external_data;
  bool external = false;  // data_location
  bool segment = false;
  uint64_t external_at = 0;                // where data_location stands
  std::array<TypedOccurrences, 12> typed;  // by field number

  const TypedOccurrences& of(TypedField field) const { return typed[static_cast<size_t>(field)]; }
  void clear();

  // Merges the message at `range` into this, as protobuf merges a repeated occurrence of one message field.
  // Throws Error(EBADMSG) with the offset where the bytes are no message.
  void scan(wire::Window& window, ByteRange range);
};

}  // namespace onnxfs
