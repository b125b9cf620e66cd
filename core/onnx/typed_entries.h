#pragma once

#include "core/bytes/range.h"
#include "core/onnx/data_type.h"
#include "core/wire/reader.h"

namespace onnxfs {

// Steps through the entries of one typed field of a TensorProto in file order, packed and unpacked ones alike. Can
// stop at any entry and go on from there later.
//
// Throws Error(EBADMSG) for bytes that are no message. One thread at a time.
class TypedEntries {
 public:
  // Where the next entry stands.
  struct Position {
    uint64_t offset = 0;      // of the field, or of the entry in a packed run
    uint64_t packed_end = 0;  // of the packed run that `offset` is in; 0 outside of one
  };

  struct Entry {
    uint64_t value = 0;  // of a varint
    ByteRange bytes;     // of a fixed-size entry or a string
  };

  TypedEntries(wire::Window& window, ByteRange message, TypedField field);

  Position position() const noexcept { return at_; }
  void go_to(Position position) noexcept { at_ = position; }

  bool next(Entry& entry);
  uint64_t skip(uint64_t most);  // how many entries were skipped

 private:
  bool step(Entry& entry, bool& packed);

  wire::Window& window_;
  uint64_t message_end_;
  TypedField field_;
  wire::Type unpacked_;
  uint64_t width_;  // of fixed-size entries; 0 for varints and strings
  Position at_;
};

}  // namespace onnxfs
