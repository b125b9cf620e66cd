#include "core/analysis/moments.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/analysis/vectors.h"

namespace onnxfs {

namespace {

// Squares of numbers in here neither overflow nor vanish, nor do sums of 2^64 of them.
constexpr double tiny = 0x1p-400, huge = 0x1p400;

int exponent_for(double largest) {
  if (Moments::has_squares(largest)) return 0;
  return std::clamp(std::ilogb(largest), -1022, 1022);
}

ONNXFS_VECTORISED double sum(const double* values, size_t count) {
  Doubles sums[4] = {};
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (size_t k = 0; k < 4; ++k) {
      Doubles x;
      load(values + i + k * lanes, x);
      sums[k] += x;
    }
  }
  double rest = 0;
  for (; i < count; ++i) rest += values[i];
  return sum_of((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest;
}

struct Distances {
  double sum, squares;
};

ONNXFS_VECTORISED Distances distances_from(double mean, const double* values, size_t count) {
  Doubles sums[4] = {}, squares[4] = {};
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (size_t k = 0; k < 4; ++k) {
      Doubles x;
      load(values + i + k * lanes, x);
      x -= mean;
      sums[k] += x;
      squares[k] += x * x;
    }
  }
  Distances rest{};
  for (; i < count; ++i) {
    const double distance = values[i] - mean;
    rest.sum += distance;
    rest.squares += distance * distance;
  }
  return {sum_of((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest.sum,
          sum_of((squares[0] + squares[1]) + (squares[2] + squares[3])) + rest.squares};
}

}  // namespace

void Moments::add(std::span<const double> values, double largest) {
  if (values.empty()) return;
  Moments part;
  part.count_ = values.size();
  part.is_scaled_ = largest != 0;
  part.exponent_ = part.is_scaled_ ? exponent_for(largest) : 0;
  std::vector<double> scaled;
  if (part.exponent_ != 0) {
    scaled.assign(values.begin(), values.end());
    for (double& value : scaled) value = std::ldexp(value, -part.exponent_);
    values = scaled;
  }
  // The mean is rounded; what the distances from it sum to tells by how much.
  const double mean = sum(values.data(), values.size()) / static_cast<double>(values.size());
  const Distances distances = distances_from(mean, values.data(), values.size());
  part.set(mean, distances.sum, distances.squares);
  add(part);
}

void Moments::add(uint64_t count, double pivot, double distances, double squares) {
  if (count == 0) return;
  Moments part;
  part.count_ = count;
  part.is_scaled_ = true;
  part.set(pivot, distances, squares);
  add(part);
}

bool Moments::has_squares(double largest) noexcept { return largest >= tiny && largest <= huge; }

void Moments::set(double pivot, double distances, double squares) {
  const double mean_distance = distances / static_cast<double>(count_);
  mean_.add(pivot);
  mean_.add(mean_distance);
  squares_.add(squares);
  squares_.add(-distances * mean_distance);
}

void Moments::add(double value, uint64_t times) {
  if (times == 0) return;
  Moments part;
  part.count_ = times;
  part.is_scaled_ = value != 0;
  part.exponent_ = part.is_scaled_ ? exponent_for(std::fabs(value)) : 0;
  part.mean_.add(std::ldexp(value, -part.exponent_));
  add(part);
}

void Moments::rescale(int exponent) {
  const int shift = exponent_ - exponent;
  exponent_ = exponent;
  if (shift == 0 || !is_scaled_) return;
  mean_.scale(std::ldexp(1.0, shift));
  squares_.scale(std::ldexp(1.0, 2 * shift));
}

void Moments::add(const Moments& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  Moments part = other;
  const int exponent = !is_scaled_        ? part.exponent_
                       : !part.is_scaled_ ? exponent_
                                          : std::max(exponent_, part.exponent_);
  rescale(exponent);
  part.rescale(exponent);
  const double count = static_cast<double>(count_), part_count = static_cast<double>(part.count_);
  const double distance = part.mean_.minus(mean_), share = part_count / (count + part_count);
  squares_.add(part.squares_);
  squares_.add(distance * distance * (count * share));
  mean_.add(distance * share);
  count_ += part.count_;
  is_scaled_ |= part.is_scaled_;
}

double Moments::mean() const noexcept { return std::ldexp(mean_.value(), exponent_); }

double Moments::deviation() const noexcept {
  if (count_ == 0) return 0;
  return std::ldexp(std::sqrt(std::max(0.0, squares_.value()) / static_cast<double>(count_)), exponent_);
}

double Moments::l2() const noexcept {
  if (count_ == 0) return 0;
  const double mean = mean_.value();
  return std::ldexp(std::sqrt(std::max(0.0, squares_.value()) + mean * mean * static_cast<double>(count_)), exponent_);
}

}  // namespace onnxfs
