// Sources that watch how they are used.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string>

#include "core/bytes/error.h"
#include "core/bytes/source.h"

namespace onnxfs::testing {

inline std::string read_text(const Source& source, uint64_t offset, size_t length) {
  std::string text(length, '?');
  source.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

inline std::string read_all(const Source& source) { return read_text(source, 0, source.size()); }

// Fails the test when it is read out of bounds, where a real source would be free to crash.
class GuardedSource final : public Source {
 public:
  explicit GuardedSource(std::string bytes) : bytes_(std::move(bytes)) {}

  uint64_t size() const noexcept override { return bytes_.size(); }
  void read(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      ADD_FAILURE() << out.size() << " bytes read at " << offset << " of " << bytes_.size();
      std::ranges::fill(out, std::byte{0});
      return;
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  std::string bytes_;
};

inline SourcePtr guarded(std::string bytes) { return std::make_shared<GuardedSource>(std::move(bytes)); }

// Bytes with holes of zeros between them that take no memory, and a count of what was read.
class PatchworkSource final : public Source {
 public:
  PatchworkSource& text(const std::string& bytes) {
    if (!bytes.empty()) pieces_.emplace(size_, bytes);
    size_ += bytes.size();
    return *this;
  }
  PatchworkSource& hole(uint64_t size) {
    size_ += size;
    return *this;
  }

  uint64_t bytes_read() const noexcept { return bytes_read_; }

  uint64_t size() const noexcept override { return size_; }
  void read(uint64_t offset, std::span<std::byte> out) const override {
    ASSERT_LE(offset, size_);
    ASSERT_LE(out.size(), size_ - offset);
    bytes_read_ += out.size();
    std::ranges::fill(out, std::byte{0});
    const uint64_t end = offset + out.size();
    auto piece = pieces_.upper_bound(offset);
    if (piece != pieces_.begin()) --piece;
    for (; piece != pieces_.end() && piece->first < end; ++piece) {
      const uint64_t from = std::max(offset, piece->first);
      const uint64_t to = std::min(end, piece->first + piece->second.size());
      if (from < to) std::memcpy(out.data() + (from - offset), piece->second.data() + (from - piece->first), to - from);
    }
  }

 private:
  std::map<uint64_t, std::string> pieces_;
  uint64_t size_ = 0;
  mutable std::atomic<uint64_t> bytes_read_ = 0;
};

// Claims a size and cannot be read.
class FailingSource final : public Source {
 public:
  FailingSource(uint64_t size, int code) : size_(size), code_(code) {}

  uint64_t size() const noexcept override { return size_; }
  void read(uint64_t, std::span<std::byte>) const override { fail(code_, "the disk is on fire"); }
  void require_current() const override {
    if (code_ == ESTALE) fail(code_, "the disk is on fire");
  }

 private:
  uint64_t size_;
  int code_;
};

}  // namespace onnxfs::testing
