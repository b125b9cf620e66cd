#include "core/views/recoded_strings.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/bytes/error.h"
#include "core/bytes/range.h"
#include "core/onnx/data_type.h"

namespace onnxfs {

namespace {

// How far a read has to step at most before it is where it wants to be, about.
constexpr uint64_t checkpoint_distance = 64 * 1024;

// How much is converted at once.
constexpr size_t largest_piece = 4096;

// Reads a rope from front to back.
class Front {
 public:
  explicit Front(const Rope& rope) : rope_(rope) {}

  // So many bytes at an offset, at most `largest_piece`, valid until the next call.
  std::string_view at(uint64_t offset, size_t length) {
    if (offset < begin_ || offset + length > begin_ + length_) {
      begin_ = offset;
      length_ = static_cast<size_t>(std::min<uint64_t>(capacity, rope_.size() - offset));
      rope_.read(begin_, {buffer_.get(), length_});
    }
    return {reinterpret_cast<const char*>(buffer_.get()) + (offset - begin_), length};
  }

 private:
  static constexpr size_t capacity = 8 * largest_piece;

  const Rope& rope_;
  std::unique_ptr<std::byte[]> buffer_ = std::make_unique_for_overwrite<std::byte[]>(capacity);
  uint64_t begin_ = 0;
  size_t length_ = 0;
};

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- != 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace

template <typename Use>
RecodedStrings::Position RecodedStrings::walk(Position at, Use use) const {
  Front front(payload_);
  std::string out;
  Position flushed = at;
  const uint64_t end = payload_.size();
  while (at.inside || at.input != end) {
    if (!at.inside) {
      if (end - at.input < string_length_prefix) fail(EIO, "string {} of the payload ends in its length", at.strings);
      at.rest = little_endian(front.at(at.input, string_length_prefix));
      at.input += string_length_prefix;
      if (at.rest > end - at.input) fail(EIO, "string {} of the payload leads past its end", at.strings);
      encoding_.begin(at.rest, out);
      at.inside = true;
      ++at.strings;
    }
    const auto length = static_cast<size_t>(std::min<uint64_t>(at.rest, largest_piece));
    const size_t done = encoding_.convert(front.at(at.input, length), length == at.rest, out);
    at.input += done;
    at.rest -= done;
    if (at.rest == 0) {
      encoding_.end(out);
      at.inside = false;
    }
    if (out.size() < largest_piece) continue;
    at.output = flushed.output + out.size();
    if (!use(flushed, std::string_view(out))) return at;
    flushed = at;
    out.clear();
  }
  at.output = flushed.output + out.size();
  if (!out.empty()) use(flushed, std::string_view(out));
  return at;
}

RecodedStrings::RecodedStrings(Rope payload, uint64_t count, const StringEncoding& encoding)
    : payload_(std::move(payload)), encoding_(encoding) {
  const Position end = walk({}, [this](const Position& at, std::string_view) {
    if (checkpoints_.empty() || at.output - checkpoints_.back().output >= checkpoint_distance) {
      checkpoints_.push_back(at);
    }
    return true;
  });
  if (end.strings != count) fail(EIO, "the payload is {} strings, not {}", end.strings, count);
  size_ = end.output;
}

void RecodedStrings::read(uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return;
  const auto after = std::ranges::upper_bound(checkpoints_, offset, {}, &Position::output);
  walk(*std::prev(after), [&](const Position& at, std::string_view bytes) {
    if (at.output + bytes.size() <= offset) return true;
    bytes.remove_prefix(static_cast<size_t>(offset - at.output));
    const size_t n = std::min(bytes.size(), out.size());
    std::memcpy(out.data(), bytes.data(), n);
    out = out.subspan(n);
    offset += n;
    return !out.empty();
  });
}

}  // namespace onnxfs
