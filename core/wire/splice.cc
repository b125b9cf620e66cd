#include "core/wire/splice.h"

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "core/bytes/error.h"
#include "core/wire/encoder.h"
#include "core/wire/reader.h"

namespace onnxfs::wire {

namespace {

int64_t growth_of(const Patch& patch) {
  return static_cast<int64_t>(patch.content.size()) - static_cast<int64_t>(patch.range.size());
}

bool contains(ByteRange outer, ByteRange inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

// A message with splices in it, or in messages inside of it.
struct Enclosing {
  size_t around;     // which of them it stands in
  ByteRange length;  // of its field: the bytes that say how long the payload is
  ByteRange payload;
  int64_t growth = 0;  // of the payload
};

class Descent {
 public:
  Descent(Window& window, const std::vector<Splice>& splices) : window_(window), splices_(splices) {}

  // The messages, those that stand in others after them; the first is the whole source.
  std::vector<Enclosing> run() {
    const ByteRange all{0, window_.size()};
    messages_.push_back({0, {}, all});
    open_.push_back({0, Reader(window_, all)});
    while (next_ < splices_.size()) step();
    return std::move(messages_);
  }

 private:
  struct Open {
    size_t message;
    Reader reader;
  };

  // The message of the next splice; splices are in the order of their messages, outer ones first.
  ByteRange wanted() const { return splices_[next_].message; }

  void step() {
    Open& open = open_.back();
    const ByteRange payload = messages_[open.message].payload;
    if (wanted() == payload) return take(open.message);
    Field field;
    if (wanted().begin > payload.end || !open.reader.next(field)) return close();
    // What begins in this field and is not inside of it is a field of this message that makes way.
    for (; next_ < splices_.size(); take(open.message)) {
      if (field.type == Type::bytes && contains(field.payload, wanted())) return enter(field);
      if (wanted().begin >= open.reader.offset()) return;
    }
  }

  void take(size_t message) { messages_[message].growth += growth_of(splices_[next_++].patch); }

  void enter(const Field& field) {
    Reader header(window_, {field.begin, field.payload.begin});
    uint64_t tag = 0;
    header.next_varint(tag);
    messages_.push_back({open_.back().message, {header.offset(), field.payload.begin}, field.payload});
    open_.push_back({messages_.size() - 1, Reader(window_, field.payload)});
  }

  void close() {
    if (open_.size() == 1) fail(EBADMSG, "no message stands at offset {}", wanted().begin);
    open_.pop_back();
  }

  Window& window_;
  const std::vector<Splice>& splices_;
  size_t next_ = 0;
  std::vector<Enclosing> messages_;
  std::vector<Open> open_;
};

}  // namespace

std::vector<Patch> splice(Window& window, std::vector<Splice> splices) {
  const auto order = [](const Splice& splice) { return std::tuple(splice.message.begin, ~splice.message.end); };
  std::ranges::stable_sort(splices, {}, order);
  std::vector<Enclosing> messages = Descent(window, splices).run();

  std::vector<Patch> patches;
  patches.reserve(splices.size() + messages.size());
  for (Splice& splice : splices) patches.push_back(std::move(splice.patch));
  for (size_t i = messages.size() - 1; i != 0; --i) {  // the inner ones first
    const Enclosing& message = messages[i];
    int64_t growth = message.growth;
    if (growth != 0) {
      std::string length;
      append_varint(length, message.payload.size() + static_cast<uint64_t>(growth));
      patches.push_back({message.length, Rope::of(std::move(length))});
      growth += growth_of(patches.back());
    }
    messages[message.around].growth += growth;
  }
  sort_patches(patches);
  return patches;
}

}  // namespace onnxfs::wire
