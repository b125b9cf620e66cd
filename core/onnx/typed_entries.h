#pragma once

#include "core/bytes/range.h"
#include "core/onnx/data_type.h"
#include "core/onnx/entry_values.h"
#include "core/wire/reader.h"

namespace onnxfs {

// A repeated field of numbers or strings, as TypedEntries walks it: its number in the message, and the wire type of an
// entry outside of packed runs.
struct EntryField {
  uint32_t number = 0;
  wire::Type unpacked = wire::Type::varint;

  static EntryField of(TypedField field);

  // The size of an entry of fixed size; 0 for varints and strings.
  uint64_t width() const noexcept;
};

// Steps through the entries of one repeated field in file order, packed and unpacked ones alike, in a message that may
// be scattered over several pieces of the file. Can stop at any entry and go on from there later.
//
// Throws Error(EBADMSG) for bytes that are no message. One thread at a time.
class TypedEntries {
 public:
  // Where the next entry stands.
  struct Position {
    size_t piece = 0;         // of the message
    uint64_t offset = 0;      // of the field, or of the entry in a packed run
    uint64_t packed_end = 0;  // of the packed run that `offset` is in; 0 outside of one
  };

  struct Entry {
    uint64_t value = 0;  // of a varint
    ByteRange bytes;     // of a fixed-size entry or a string
  };

  // The pieces, of which there is at least one, live as long as this does.
  TypedEntries(wire::Window& window, std::span<const ByteRange> pieces, EntryField field);

  Position position() const noexcept { return at_; }
  void go_to(Position position) noexcept { at_ = position; }

  bool next(Entry& entry);
  uint64_t skip(uint64_t most);  // how many entries were skipped

  // As skip, of varints, with a look at each: as a number of `typed_field`.
  uint64_t skip_looking(uint64_t most, TypedField typed_field, EntryValues& values);

 private:
  bool step(Entry& entry, bool& packed);
  template <typename Look, typename SkipPacked>
  uint64_t skip_by(uint64_t most, Look look, SkipPacked skip_packed);

  wire::Window& window_;
  std::span<const ByteRange> pieces_;
  EntryField field_;
  Position at_;
};

}  // namespace onnxfs
