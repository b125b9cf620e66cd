#pragma once

#include <algorithm>
#include <cmath>

#include "core/analysis/moments.h"

namespace onnxfs {

// A sum, with its rounding errors, of terms that are numbers of units of a power of two, each of its own: so that it
// neither overflows nor vanishes where a double would. A term in a unit so small that it is nothing beside the others'
// is lost. A plain value.
class ScaledSum {
 public:
  // fraction × 4^exponent, the fraction's magnitude in [1/4, 1), or zero. Of four, so that a root is as easily had.
  struct Number {
    double fraction;
    int exponent;
  };

  void add(double term, int exponent = 0) noexcept {
    if (term == 0) return;
    ScaledSum other;
    other.sum_.add(term);
    other.exponent_ = exponent;
    add(other);
  }

  void add(const ScaledSum& other) noexcept {
    if (other.is_zero()) return;
    if (is_zero()) {
      *this = other;
      return;
    }
    ScaledSum part = other;
    const int common = std::max(exponent_, part.exponent_);
    rescale(common);
    part.rescale(common);
    sum_.add(part.sum_);
  }

  bool is_zero() const noexcept { return sum_.value() == 0; }
  double value() const noexcept { return std::ldexp(sum_.value(), exponent_); }  // infinite where it is no double
  double mean(double count) const noexcept { return std::ldexp(sum_.value() / count, exponent_); }

  Number number() const noexcept {
    int exponent = 0;
    double fraction = std::frexp(sum_.value(), &exponent);
    exponent += exponent_;
    if (exponent % 2 != 0) {
      fraction /= 2;
      ++exponent;
    }
    return {fraction, exponent / 2};
  }

 private:
  void rescale(int exponent) noexcept {
    if (exponent != exponent_) sum_.scale(std::ldexp(1.0, exponent_ - exponent));
    exponent_ = exponent;
  }

  CompensatedSum sum_;  // in units of 2^exponent_
  int exponent_ = 0;
};

}  // namespace onnxfs
