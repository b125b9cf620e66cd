#pragma once

#include <optional>
#include <vector>

#include "core/bytes/range.h"
#include "core/wire/window.h"

namespace onnxfs {

// What stands in an AttributeProto, by field, before anything is concluded from it. Made to be used again and again.
struct AttributeFields {
  // A plain list. All its entries are counted.
  struct List {
    uint64_t entries = 0;
    uint64_t bytes = 0;        // of strings: the sum of their lengths
    uint64_t longest = 0;      // of strings
    ByteRange packed;          // of the one packed run, if there is one and nothing else
    bool in_one_piece = true;  // whether that holds
  };

  ByteRange name;
  std::optional<uint64_t> type;  // AttributeProto.AttributeType, as it stands there
  bool is_reference = false;     // holds ref_attr_name: the value is the function's caller's

  // Of a message field that occurs twice, the parts of one message; of a repeated one, the messages.
  std::vector<ByteRange> tensor, graph, sparse_tensor;
  std::vector<ByteRange> tensors, graphs, sparse_tensors;

  List floats, ints, strings;
  // Of single values the last occurrence, with its tag: a message of one field.
  std::optional<ByteRange> f, i, s;

  void clear() { *this = AttributeFields(); }

  // Throws Error(EBADMSG) with the offset where the bytes are no message.
  void scan(wire::Window& window, ByteRange range);
};

}  // namespace onnxfs
