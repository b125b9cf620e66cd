#include "core/views/sums.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/bytes/hash.h"
#include "core/bytes/workers.h"

namespace onnxfs {

namespace {

constexpr std::string_view separator = "  ";
constexpr std::string_view suffix = ".bin\n";

class SumsSource final : public Source {
 public:
  explicit SumsSource(SumsSubject subject) : subject_(std::move(subject)) {
    const auto count = static_cast<uint32_t>(subject_.model->catalog().tensors().size());
    for (uint32_t i = 0; i < count; ++i) {
      if (!subject_.model->problem(i).empty()) continue;
      size_ += xxh128_length + separator.size() + subject_.path_of(i).size() + suffix.size();
      lines_.push_back({i, size_});
    }
  }

  uint64_t size() const noexcept override { return size_; }
  void require_current() const override { subject_.model->file()->require_current(); }

  void read(uint64_t offset, std::span<std::byte> out) const override {
    hash_for(offset, out.size());
    auto line = std::ranges::upper_bound(lines_, offset, {}, &Line::end);
    uint64_t at = line == lines_.begin() ? 0 : std::prev(line)->end;
    for (; !out.empty(); ++line) {
      const uint64_t from = offset - at;
      // The hash is the dear part of a line: it is left out where a read begins behind it.
      std::string text = from < xxh128_length ? digest(line->tensor) : std::string(xxh128_length, '?');
      text.append(separator).append(subject_.path_of(line->tensor)).append(suffix);
      const size_t n = std::min(text.size() - static_cast<size_t>(from), out.size());
      std::memcpy(out.data(), text.data() + from, n);
      out = out.subspan(n);
      offset += n;
      at = line->end;
    }
  }

 private:
  struct Line {
    uint32_t tensor;
    uint64_t end;  // in the file
  };

  // Hashes what a read of that range needs and the cache has not, several at once: a file of this kind is read from its
  // beginning, and the first read wants the hashes of hundreds.
  void hash_for(uint64_t offset, uint64_t length) const {
    std::vector<uint32_t> missing;
    for (auto line = std::ranges::upper_bound(lines_, offset, {}, &Line::end); line != lines_.end(); ++line) {
      const uint64_t at = line == lines_.begin() ? 0 : std::prev(line)->end;
      if (at >= offset + length) break;
      if (offset < at + xxh128_length && !subject_.cache->find(line->tensor, subject_.version_of(line->tensor))) {
        missing.push_back(line->tensor);
      }
    }
    if (missing.size() < 2) return;
    Workers workers(std::min(missing.size(), Workers::processors()));
    workers.run(missing.size(), [&](size_t i, Scratch&) { digest(missing[i]); });
  }

  std::string digest(uint32_t tensor) const {
    uint64_t version = subject_.version_of(tensor);
    if (auto known = subject_.cache->find(tensor, version)) return *std::move(known);
    Rope payload = subject_.payload_of(tensor);
    for (uint64_t now; (now = subject_.version_of(tensor)) != version; version = now) {
      payload = subject_.payload_of(tensor);  // edited meanwhile: the one at hand may be of either version
    }
    return subject_.cache->get(tensor, version, [&payload] { return xxh128(payload); });
  }

  SumsSubject subject_;
  std::vector<Line> lines_;
  uint64_t size_ = 0;
};

}  // namespace

Rope xxh128_sums(SumsSubject subject) { return Rope::of(std::make_shared<SumsSource>(std::move(subject))); }

}  // namespace onnxfs
