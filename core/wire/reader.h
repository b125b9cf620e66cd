// Protobuf's wire format as byte ranges (protobuf.dev/programming-guides/encoding).
//
// A message is a sequence of fields. A field is a tag, the varint of (number << 3 | wire type), and then
//   0  a varint: up to ten bytes of seven bits, least significant first
//   1  eight bytes, little-endian
//   2  a length, as a varint, and so many bytes: a string, a nested message, packed numbers
//   3  a group: fields up to the tag of type 4 with the same number; long deprecated, still legal
//   5  four bytes, little-endian
// Overlong varints are legal. Field number 0, types 6 and 7, and an end of group without its begin are not.
#pragma once

#include <vector>

#include "core/wire/window.h"

namespace onnxfs::wire {

enum class Type : uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, end_group = 4, fixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Type type = Type::varint;
  uint64_t begin = 0;  // of its tag, in the source
  ByteRange payload;   // what follows the tag; for `bytes`, what follows the length
  uint64_t value = 0;  // of a varint

  bool is(uint32_t wanted, Type as) const noexcept { return number == wanted && type == as; }
};

// Steps through the fields of one message that lies at a range of the window's source. Payloads are skipped, not
// read; a nested message is read by another Reader over its payload, while this one stays where it is.
//
// Throws Error(EBADMSG) with the offset for bytes that are no message: every length is proved to lie within the
// range before it is reported. One thread at a time, as the window.
class Reader {
 public:
  Reader(Window& window, ByteRange range) : window_(&window), at_(range.begin), end_(range.end) {}

  // The next field, or false at the end of the message.
  bool next(Field& field);

  // For packed numbers: the next varint, and whether there is one.
  bool next_varint(uint64_t& value);

  // For packed numbers: steps over at most so many varints, at the speed of looking at their bytes. Returns how many.
  uint64_t skip_varints(uint64_t most);

  uint64_t offset() const noexcept { return at_; }

 private:
  uint64_t varint(const char* what);
  void tag(Field& field);
  void skip(uint64_t length, const Field& field);
  void skip_group(const Field& begin);

  Window* window_;
  uint64_t at_;
  uint64_t end_;
};

// Appends the number or, when the field is packed, the numbers of a repeated integer field. Other wire types are
// unknown fields, and append nothing.
void read_integers(Window& window, const Field& field, std::vector<int64_t>& numbers);

}  // namespace onnxfs::wire
