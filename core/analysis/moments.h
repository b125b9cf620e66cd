#pragma once

#include <cstdint>
#include <span>

namespace onnxfs {

// A sum whose rounding errors are summed too: Knuth's TwoSum (The Art of Computer Programming, volume 2, 4.2.2,
// theorem B).
class CompensatedSum {
 public:
  void add(double term) noexcept {
    const double sum = sum_ + term;
    const double part = sum - sum_;
    error_ += (sum_ - (sum - part)) + (term - part);
    sum_ = sum;
  }
  void add(const CompensatedSum& other) noexcept {
    add(other.sum_);
    error_ += other.error_;
  }
  void scale(double by) noexcept {
    sum_ *= by;
    error_ *= by;
  }
  double value() const noexcept { return sum_ + error_; }
  double minus(const CompensatedSum& other) const noexcept { return (sum_ - other.sum_) + (error_ - other.error_); }

 private:
  double sum_ = 0;
  double error_ = 0;
};

// Mean and deviation of finite numbers, taken in parts and put together by the formulas of Chan, Golub and LeVeque
// (Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979): nothing cancels, however far from
// zero the mean is. A part is summed in two passes, the second one over distances from its mean (their corrected
// two-pass algorithm), and means are kept in two doubles.
//
// The result is within about 1e-14 of the exact one, relative to the mean of |x|, respectively to the deviation, for
// numbers of any size: those whose squares a double cannot hold are counted in units of a power of two.
class Moments {
 public:
  // At most some thousand numbers, none of which is larger than `largest`.
  void add(std::span<const double> values, double largest);
  void add(double value, uint64_t times);
  void add(const Moments& other);

  // The same in one pass: the sums, over `count` numbers, of their distances from `pivot` and of the squares of these.
  // As exact, where the pivot is the mean of as many numbers, at least, that are in here already: what cancels is then
  // no more than the distance of the two means adds. For numbers whose largest has `has_squares`.
  void add(uint64_t count, double pivot, double distances, double squares);
  static bool has_squares(double largest) noexcept;

  uint64_t count() const noexcept { return count_; }
  double mean() const noexcept;       // 0 of none
  double deviation() const noexcept;  // sqrt(mean of |x - mean|²), as numpy's std has it
  double l2() const noexcept;         // sqrt(sum of x²); infinite where that is no double

 private:
  void set(double pivot, double distances, double squares);
  void rescale(int exponent);

  uint64_t count_ = 0;
  int exponent_ = 0;        // mean and squares are those of x / 2^exponent
  bool is_scaled_ = false;  // false while all were zero: then any exponent does
  CompensatedSum mean_;
  CompensatedSum squares_;  // of the distances from the mean
};

}  // namespace onnxfs
