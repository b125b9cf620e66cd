#include "core/wire/reader.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/bytes/error.h"

namespace onnxfs::wire {

namespace {

constexpr size_t longest_varint = 10;

// Eight bytes of varints at once.
struct VarintBytes {
  // What ends a varint is a byte without its highest bit.
  explicit VarintBytes(const std::byte* bytes) {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(&ends, bytes, sizeof ends);
    ends = ~ends & 0x8080'8080'8080'8080;
  }
  uint64_t count() const { return (ends >> 7) * 0x0101'0101'0101'0101 >> 56; }

  // Before the first end, and after the last. Of none, there is neither.
  size_t before() const { return static_cast<size_t>(std::countr_zero(ends)) / 8; }
  size_t after() const { return static_cast<size_t>(std::countl_zero(ends)) / 8; }

  uint64_t ends;
};

// Protobuf's own readers give up at 100 nested groups or messages; nothing legal comes near.
constexpr size_t deepest_group = 100;

}  // namespace

bool Reader::next(Field& field) {
  if (at_ == end_) return false;
  tag(field);
  switch (field.type) {
    case Type::varint:
      field.payload.begin = at_;
      field.value = varint("value");
      field.payload.end = at_;
      return true;
    case Type::fixed64:
      skip(8, field);
      field.payload = {at_ - 8, at_};
      return true;
    case Type::fixed32:
      skip(4, field);
      field.payload = {at_ - 4, at_};
      return true;
    case Type::bytes: {
      const uint64_t length = varint("length");
      skip(length, field);
      field.payload = {at_ - length, at_};
      return true;
    }
    case Type::group:
      field.payload.begin = at_;
      skip_group(field);
      field.payload.end = at_;
      return true;
    case Type::end_group: break;
  }
  fail(EBADMSG, "corrupt at offset {}: a group ends that did not begin", field.begin);
}

bool Reader::next_varint(uint64_t& value) {
  if (at_ == end_) return false;
  value = varint("number");
  return true;
}

uint64_t Reader::skip_varints(uint64_t most) {
  uint64_t skipped = 0;
  size_t length = 0;  // of the varint that is being stepped over
  while (skipped < most && at_ != end_) {
    const auto bytes = window_->at(at_, static_cast<size_t>(std::min<uint64_t>(end_ - at_, SIZE_MAX)));
    size_t i = 0;
    while (i < bytes.size() && skipped < most) {
      if (bytes.size() - i >= sizeof(uint64_t)) {
        const VarintBytes eight(&bytes[i]);
        const uint64_t count = eight.count();
        if (count != 0 && count < most - skipped && length + eight.before() < longest_varint) {
          skipped += count;
          length = eight.after();
          i += sizeof(uint64_t);
          continue;
        }
      }
      const bool last = (bytes[i] & std::byte{0x80}) == std::byte{0};
      if (++length > longest_varint) {
        fail(EBADMSG, "corrupt at offset {}: a number of more than {} bytes", at_ + i, longest_varint);
      }
      skipped += last;
      length = last ? 0 : length;
      ++i;
    }
    at_ += i;
  }
  if (length != 0) fail(EBADMSG, "truncated at offset {}: a number does not end", at_);
  return skipped;
}

uint64_t Reader::varint(const char* what) {
  const uint64_t begin = at_;
  uint64_t value = 0;
  for (size_t i = 0; i < longest_varint;) {
    if (at_ == end_) fail(EBADMSG, "truncated at offset {}: a {} that began at {} does not end", at_, what, begin);
    const size_t most = static_cast<size_t>(std::min<uint64_t>(longest_varint - i, end_ - at_));
    for (const std::byte byte : window_->at(at_, most)) {
      ++at_;
      // The tenth byte holds one bit that counts; what is above is dropped, as protobuf does.
      value |= std::to_integer<uint64_t>(byte & std::byte{0x7f}) << (7 * i++);
      if ((byte & std::byte{0x80}) == std::byte{0}) return value;
    }
  }
  fail(EBADMSG, "corrupt at offset {}: a {} of more than {} bytes", begin, what, longest_varint);
}

void Reader::tag(Field& field) {
  field.begin = at_;
  const uint64_t tag = varint("tag");
  const uint64_t number = tag >> 3;
  if (number == 0 || number > 0x1fff'ffff) {
    fail(EBADMSG, "corrupt at offset {}: {} is no field number", field.begin, number);
  }
  if ((tag & 7) > 5) fail(EBADMSG, "corrupt at offset {}: {} is no wire type", field.begin, tag & 7);
  field.number = static_cast<uint32_t>(number);
  field.type = static_cast<Type>(tag & 7);
  field.value = 0;
}

void Reader::skip(uint64_t length, const Field& field) {
  if (length > end_ - at_) {
    fail(EBADMSG, "truncated at offset {}: field {} at {} needs {} bytes and {} are left", end_, field.number,
         field.begin, length, end_ - at_);
  }
  at_ += length;
}

void Reader::skip_group(const Field& begin) {
  std::vector<uint32_t> open{begin.number};
  Field field;
  while (!open.empty()) {
    if (at_ == end_) fail(EBADMSG, "truncated at offset {}: a group that began at {} does not end", at_, begin.begin);
    tag(field);
    switch (field.type) {
      case Type::varint: varint("value"); break;
      case Type::fixed64: skip(8, field); break;
      case Type::fixed32: skip(4, field); break;
      case Type::bytes: skip(varint("length"), field); break;
      case Type::group:
        if (open.size() == deepest_group) fail(EBADMSG, "corrupt at offset {}: groups nested too deep", field.begin);
        open.push_back(field.number);
        break;
      case Type::end_group:
        if (field.number != open.back()) {
          fail(EBADMSG, "corrupt at offset {}: group {} ends where {} should", field.begin, field.number, open.back());
        }
        open.pop_back();
        break;
    }
  }
}

void read_integers(Window& window, const Field& field, std::vector<int64_t>& numbers) {
  if (field.type == Type::varint) numbers.push_back(static_cast<int64_t>(field.value));
  if (field.type != Type::bytes) return;
  Reader packed(window, field.payload);
  for (uint64_t value; packed.next_varint(value);) numbers.push_back(static_cast<int64_t>(value));
}

}  // namespace onnxfs::wire
