#include "core/analysis/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/analysis/vectors.h"

namespace onnxfs {

namespace {

constexpr int64_t largest_index = int64_t{1} << 30;  // so that indices fit in 32 bits
constexpr int widest = 1016;                         // 2^1016 × 1024 is more than all doubles are apart

// floor(value / 2^exponent), of a quotient too that is smaller than every double.
double index_of(double value, int exponent) {
  const double quotient = std::ldexp(value, -exponent);
  return quotient == 0 && value < 0 ? -1 : std::floor(quotient);
}

// The same for many, less `first`: rounded to the nearest, and one less where that is above the value. What is added to
// a quotient of at most 2^30 leaves no room for a fraction in the sum, so that its last bits are those of the integer.
ONNXFS_VECTORISED void find_indices(const double* values, size_t count, int exponent, int32_t first, int32_t* indices) {
  const double scale = std::ldexp(1.0, -exponent), width = std::ldexp(1.0, exponent);
  constexpr double no_fraction = 0x1.8p52;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Doubles x;
    load(values + i, x);
    const Doubles sum = x * scale + no_fraction;
    const Masks is_above = (sum - no_fraction) * width > x;
    store(__builtin_convertvector((Masks)sum + is_above - first, Integers), indices + i);
  }
  for (; i < count; ++i) indices[i] = static_cast<int32_t>(index_of(values[i], exponent)) - first;
}

// Floats by cutting the fraction off, as many at a time as they have lanes. Where their width, or its inverse, is no
// normal float, it is done with doubles.
ONNXFS_VECTORISED void find_indices(const float* values, size_t count, int exponent, int32_t first, int32_t* indices) {
  const bool is_float = std::abs(exponent) <= 126;
  const float scale = std::ldexp(1.0f, is_float ? -exponent : 0), width = std::ldexp(1.0f, is_float ? exponent : 0);
  size_t i = 0;
  for (; is_float && i + float_lanes <= count; i += float_lanes) {
    Floats x;
    load(values + i, x);
    const auto cut = __builtin_convertvector(x * scale, FloatMasks);
    const FloatMasks is_above = __builtin_convertvector(cut, Floats) * width > x;
    store(cut + is_above - first, indices + i);
  }
  for (; i < count; ++i) indices[i] = static_cast<int32_t>(index_of(values[i], exponent)) - first;
}

}  // namespace

bool Histogram::fits(int exponent, double low, double high) const {
  const double first = index_of(low, exponent), last = index_of(high, exponent);
  const auto bound = static_cast<double>(largest_index);
  return first >= -bound && last <= bound && last - first < static_cast<double>(size);
}

void Histogram::cover(double low, double high) {
  if (is_placed_ && low >= low_ && high <= high_) return;
  if (is_placed_) {
    low = std::min(low, low_);
    high = std::max(high, high_);
  }
  int exponent = is_placed_ ? exponent_ : finest_;
  // Not far below the first that fits, and then up to it.
  const double range = std::max(high / 2 - low / 2, std::max(std::fabs(low), std::fabs(high)) * 0x1p-31);
  if (range > 0) exponent = std::max(exponent, std::ilogb(range) - 10);
  while (exponent < widest && !fits(exponent, low, high)) ++exponent;
  place(exponent, low, high);
}

void Histogram::place(int exponent, double low, double high) {
  const auto first = static_cast<int64_t>(index_of(low, exponent));
  const auto last = static_cast<int64_t>(index_of(high, exponent));
  low_ = low;
  high_ = high;
  if (is_placed_ && exponent == exponent_ && first >= first_ && last < first_ + size) return;
  gather();
  // Room on both sides, for a range that grows little by little.
  const int64_t new_first = first - (size - 1 - (last - first)) / 2;
  std::vector<uint64_t> counts(size);
  for (int64_t i = 0; i < static_cast<int64_t>(counts_.size()); ++i) {
    if (counts_[i] == 0) continue;
    const int shift = std::min(exponent - exponent_, 62);
    counts[((first_ + i) >> shift) - new_first] += counts_[i];
  }
  counts_ = std::move(counts);
  exponent_ = exponent;
  first_ = new_first;
  is_placed_ = true;
}

void Histogram::gather() {
  if (recently_added_ == 0) return;
  for (size_t i = 0; i < recent_->size(); ++i) counts_[i % size] += (*recent_)[i];
  recent_->fill(0);
  recently_added_ = 0;
}

void Histogram::settle() {
  gather();
  recent_ = nullptr;
}

template <typename T>
void Histogram::count_in(std::span<const T> values) {
  constexpr uint64_t most_recent = 1u << 31;
  constexpr size_t piece = 2048;
  std::array<int32_t, piece> indices;
  while (!values.empty()) {
    const size_t count = std::min(piece, values.size());
    find_indices(values.data(), count, exponent_, static_cast<int32_t>(first_), indices.data());
    uint32_t* recent = recent_->data();
    size_t i = 0;
    for (; i + tables <= count; i += tables) {
      for (size_t k = 0; k < tables; ++k) ++recent[k * size + static_cast<size_t>(indices[i + k])];
    }
    for (; i < count; ++i) ++recent[indices[i]];
    values = values.subspan(count);
    recently_added_ += count;
    if (recently_added_ >= most_recent) gather();
  }
}

void Histogram::add(std::span<const double> values) { count_in(values); }
void Histogram::add(std::span<const float> values) { count_in(values); }

void Histogram::add(double value, uint64_t times) {
  counts_[static_cast<int64_t>(index_of(value, exponent_)) - first_] += times;
}

void Histogram::add(const Histogram& other) {
  if (!other.is_placed_) return;
  cover(other.low_, other.high_);
  if (exponent_ < other.exponent_) place(other.exponent_, low_, high_);
  for (int64_t i = 0; i < size; ++i) {
    if (other.counts_[i] == 0) continue;
    const int shift = std::min(exponent_ - other.exponent_, 62);
    counts_[((other.first_ + i) >> shift) - first_] += other.counts_[i];
  }
}

Histogram::Bins Histogram::bins(size_t most) const {
  Bins bins;
  if (!is_placed_) return bins;
  const auto first = static_cast<int64_t>(index_of(low_, exponent_));
  const auto last = static_cast<int64_t>(index_of(high_, exponent_));
  // Groups of our bins, that begin at multiples of their width; a single one, which may have 0 inside, at the first.
  const int64_t origin = most == 1 ? first : 0;
  int64_t width = 1;
  const auto group = [&width, origin](int64_t index) {
    index -= origin;
    return index >= 0 ? index / width : -((width - 1 - index) / width);
  };
  while (group(last) - group(first) >= static_cast<int64_t>(most)) ++width;
  bins.counts.resize(group(last) - group(first) + 1);
  for (int64_t i = first; i <= last; ++i) bins.counts[group(i) - group(first)] += counts_[i - first_];
  for (int64_t i = group(first); i <= group(last) + 1; ++i) {
    const double edge = std::ldexp(static_cast<double>(origin + i * width), exponent_);
    constexpr double end = std::numeric_limits<double>::max();
    bins.edges.push_back(std::clamp(edge, -end, end));
  }
  return bins;
}

}  // namespace onnxfs
