#include "core/analysis/difference.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/analysis/difference_kernel.h"
#include "core/analysis/shares.h"
#include "core/analysis/string_cursor.h"
#include "core/bytes/error.h"

namespace onnxfs {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// Reads the same numbers of both, piece by piece.
class Comparison {
 public:
  Comparison(const Compared& a, const Compared& b, uint64_t elements, const Tolerance& tolerance, Workers& workers)
      : a_(a),
        b_(b),
        decoder_a_(a.type),
        decoder_b_(b.type),
        same_type_(a.type == b.type),
        tolerance_(tolerance),
        workers_(workers),
        numbers_(decoder_a_.numbers(elements, a.payload.size())),
        shares_(numbers_, std::max(decoder_a_.bits(), decoder_b_.bits())),
        results_(shares_.count()),
        skipped_(shares_.count()) {
    if (decoder_a_.bytes_of(numbers_) != a.payload.size() || decoder_b_.bytes_of(numbers_) != b.payload.size()) {
      fail(EINVAL, "the two payloads are not of as many numbers");
    }
  }

  Difference run() {
    workers_.run(shares_.count(), [this](size_t share, Scratch& scratch) { compare(share, scratch); });
    Difference all;
    all.numbers = numbers_;
    all.bytes_equal = same_type_ && !differs_;
    if (all.bytes_equal) return all;
    workers_.run(shares_.count(), [this](size_t share, Scratch& scratch) { add_skipped(share, scratch); });
    all.numbers = 0;
    for (const Difference& result : results_) all.add(result);
    return all;
  }

 private:
  // As long as all that any share has seen is equal, its numbers are skipped.
  void compare(size_t share, Scratch& scratch) {
    const ByteRange range = shares_[share];
    const Buffers buffers(*this, range.size(), scratch);
    DifferenceKernel kernel(decoder_a_, decoder_b_, same_type_, tolerance_, scratch);
    skipped_[share] = {range.begin, range.begin};
    bool skips = same_type_;
    for (uint64_t at = range.begin; at != range.end;) {
      const uint64_t count = std::min(buffers.at_once, range.end - at);
      const auto [a, b] = buffers.read(at, count);
      if (skips) {
        if (std::memcmp(a.data(), b.data(), a.size()) != 0) differs_.store(true, std::memory_order_relaxed);
        skips = !differs_.load(std::memory_order_relaxed);
        if (skips) skipped_[share].end = at + count;
      }
      if (!skips) kernel.add(a.data(), b.data(), count);
      at += count;
      workers_.advance(a.size() + b.size());
    }
    results_[share] = kernel.result();
  }

  void add_skipped(size_t share, Scratch& scratch) {
    const ByteRange range = skipped_[share];
    if (range.empty()) return;
    const Buffers buffers(*this, range.size(), scratch);
    DifferenceKernel kernel(decoder_a_, decoder_b_, same_type_, tolerance_, scratch);
    for (uint64_t at = range.begin; at != range.end;) {
      const uint64_t count = std::min(buffers.at_once, range.end - at);
      kernel.add_equal(buffers.read_a(at, count).data(), count);
      at += count;
    }
    results_[share].add(kernel.result());
  }

  struct Buffers {
    Buffers(const Comparison& comparison, uint64_t numbers, Scratch& scratch)
        : self(comparison),
          at_once(std::min(numbers, numbers_read_at_once(std::max(self.decoder_a_.bits(), self.decoder_b_.bits())))),
          a(scratch.bytes(2, self.decoder_a_.bytes_of(at_once))),
          b(scratch.bytes(3, self.decoder_b_.bytes_of(at_once))) {}

    std::span<const std::byte> read_a(uint64_t at, uint64_t count) const {
      const std::span<std::byte> bytes(a, self.decoder_a_.bytes_of(count));
      self.a_.payload.read(self.decoder_a_.bytes_of(at), bytes);
      return bytes;
    }

    std::pair<std::span<const std::byte>, std::span<const std::byte>> read(uint64_t at, uint64_t count) const {
      const std::span<std::byte> bytes(b, self.decoder_b_.bytes_of(count));
      self.b_.payload.read(self.decoder_b_.bytes_of(at), bytes);
      return {read_a(at, count), bytes};
    }

    const Comparison& self;
    uint64_t at_once;
    std::byte* a;
    std::byte* b;
  };

  const Compared& a_;
  const Compared& b_;
  NumberDecoder decoder_a_, decoder_b_;
  bool same_type_;
  Tolerance tolerance_;
  Workers& workers_;
  uint64_t numbers_;
  Shares shares_;
  std::vector<Difference> results_;  // of each share
  std::vector<ByteRange> skipped_;   // of each share, the numbers in front that were equal when nothing differed yet
  std::atomic<bool> differs_ = false;
};

// Whether the next string of both, of one length, is equal. Reads all of it.
bool next_is_equal(StringCursor& a, StringCursor& b, uint64_t length) {
  while (length != 0) {
    const auto some = a.read(length);
    for (auto rest = some; !rest.empty();) {
      const auto other = b.read(rest.size());
      if (std::memcmp(rest.data(), other.data(), other.size()) != 0) {
        a.skip(length - some.size());
        b.skip(length - some.size() + rest.size() - other.size());
        return false;
      }
      rest = rest.subspan(other.size());
    }
    length -= some.size();
  }
  return true;
}

}  // namespace

bool can_compare(const DataType* a, const DataType* b) {
  if (a == b) return true;
  const auto has_numbers = [](const DataType* type) { return type != nullptr && type->number != string_type; };
  const auto is_complex = [](const DataType* type) { return type->onnx_name.starts_with("COMPLEX"); };
  return has_numbers(a) && has_numbers(b) && is_complex(a) == is_complex(b);
}

double Difference::mean_absolute() const noexcept {
  return finite == 0 ? 0 : absolute.mean(static_cast<double>(finite));
}

double Difference::relative_l2() const noexcept {
  if (squared.is_zero()) return 0;
  if (a_squared.is_zero()) return infinity;
  const auto d = squared.number(), a = a_squared.number();
  return std::ldexp(std::sqrt(d.fraction / a.fraction), d.exponent - a.exponent);
}

double Difference::cosine() const noexcept {
  if (a_squared.is_zero() || b_squared.is_zero()) return nan;
  const auto a = a_squared.number(), b = b_squared.number(), p = products.number();
  const double cosine = p.fraction / (std::sqrt(a.fraction) * std::sqrt(b.fraction));
  return std::clamp(std::ldexp(cosine, 2 * p.exponent - a.exponent - b.exponent), -1.0, 1.0);
}

double Difference::sqnr() const noexcept {
  if (squared.is_zero()) return infinity;
  const auto d = squared.number(), a = a_squared.number();
  constexpr int farthest = 500;  // that a double holds, in powers of four
  const int apart = a.exponent - d.exponent, near = std::clamp(apart, -farthest, farthest);
  return 10 * (std::log10(std::ldexp(a.fraction / d.fraction, 2 * near)) + 2 * (apart - near) * std::log10(2.0));
}

void Difference::add(const Difference& other) {
  numbers += other.numbers;
  changed += other.changed;
  new_nan += other.new_nan;
  new_infinite += other.new_infinite;
  finite += other.finite;
  max_absolute = std::max(max_absolute, other.max_absolute);
  absolute.add(other.absolute);
  squared.add(other.squared);
  a_squared.add(other.a_squared);
  b_squared.add(other.b_squared);
  products.add(other.products);
}

Difference difference_between(const Compared& a, const Compared& b, uint64_t elements, const Tolerance& tolerance,
                              Workers& workers) {
  return Comparison(a, b, elements, tolerance, workers).run();
}

Difference string_difference_between(const Rope& a, const Rope& b, uint64_t elements, Workers& workers) {
  Difference result;
  StringCursor from_a(a), from_b(b);
  uint64_t worked = 0;
  for (uint64_t length_a, length_b; from_a.next(length_a);) {
    if (!from_b.next(length_b)) break;
    if (length_a != length_b) {
      from_a.skip(length_a);
      from_b.skip(length_b);
      ++result.changed;
    } else if (!next_is_equal(from_a, from_b, length_a)) {
      ++result.changed;
    }
    ++result.numbers;
    const uint64_t offset = from_a.offset() + from_b.offset();
    workers.advance(offset - worked);
    worked = offset;
  }
  if (result.numbers != elements || from_a.offset() != a.size() || from_b.offset() != b.size()) {
    fail(EIO, "it does not hold {} strings", elements);
  }
  result.bytes_equal = result.changed == 0;
  return result;
}

}  // namespace onnxfs
