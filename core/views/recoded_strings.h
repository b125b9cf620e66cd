#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/rope.h"

namespace onnxfs {

// How a string of a payload is written in another encoding: what stands before it, its text, and what stands behind.
// Any number of threads may use one.
class StringEncoding {
 public:
  virtual ~StringEncoding() = default;

  virtual void begin(uint64_t length, std::string& out) const = 0;
  // Appends the front of a text, and returns how much of it: all when it is the `last` of its string, else all but what
  // only means something with what follows it (a character's first bytes, fewer than four).
  virtual size_t convert(std::string_view text, bool last, std::string& out) const = 0;
  virtual void end(std::string& out) const = 0;

 protected:
  StringEncoding() = default;
  StringEncoding(const StringEncoding&) = default;
  StringEncoding& operator=(const StringEncoding&) = default;
};

// A payload of strings in another encoding; nothing is kept of it but where in the payload every so many bytes begin,
// so that a read anywhere costs about what it asks for. That index is made, and the size found, by one pass over the
// payload when the source is made. Any number of threads may use one.
class RecodedStrings final : public Source {
 public:
  // `encoding` outlives this. Throws Error(EIO) when the payload is not so many strings.
  RecodedStrings(Rope payload, uint64_t count, const StringEncoding& encoding);

  uint64_t size() const noexcept override { return size_; }
  void read(uint64_t offset, std::span<std::byte> out) const override;
  void require_current() const override { payload_.require_current(); }

 private:
  struct Position {
    uint64_t input = 0;    // in the payload
    uint64_t rest = 0;     // of the string that `input` is in
    bool inside = false;   // a string: its begin was written, its end not
    uint64_t strings = 0;  // that were begun before
    uint64_t output = 0;   // how much was written before
  };

  // Calls use(position before, bytes) for what is written from a position on, until it returns false or the payload
  // ends, and returns the position there.
  template <typename Use>
  Position walk(Position at, Use use) const;

  Rope payload_;
  const StringEncoding& encoding_;
  uint64_t size_ = 0;
  std::vector<Position> checkpoints_;
};

}  // namespace onnxfs
