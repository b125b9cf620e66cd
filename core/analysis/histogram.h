#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace onnxfs {

// How many numbers lie where, without knowing beforehand where they will: bins are of one width, a power of two, and
// begin at multiples of it. When they no longer reach over all numbers, the width is doubled, and each bin is the sum
// of two. So one pass is enough, and counts are exact: each is of the numbers in [edge, next edge).
//
// An integer of 64 bits counts as the double nearest to it. One thread.
class Histogram {
 public:
  // What numbers are counted in until they are gathered. Such as follow one another are often equal, and each has a
  // table of its own, so that its count does not wait for the last one's.
  static constexpr int64_t size = 1024;
  static constexpr size_t tables = 4;
  using Recent = std::array<uint32_t, tables * size>;

  // Bins are not narrower than 2^finest.
  explicit Histogram(int finest = -1022) : finest_(finest) {}

  // Memory to add many numbers with, until it is settled: all zeros, as it is again then.
  void lend(Recent& recent) { recent_ = &recent; }

  // To be called before numbers are added: makes room for those in [low, high], both finite.
  void cover(double low, double high);
  void add(std::span<const double> values);  // wants what is lent
  void add(std::span<const float> values);
  void add(double value, uint64_t times);
  void add(const Histogram& other);  // that was settled

  // Ends the adding of many numbers, and gives back what was lent.
  void settle();

  struct Bins {
    std::vector<double> edges;  // one more than there are counts; none when nothing was added
    std::vector<uint64_t> counts;
  };
  // At most so many bins (one at least) over all that was covered, again at multiples of one width, so that 0 is an
  // edge if there are two. Of one that was settled.
  Bins bins(size_t most) const;

 private:
  void place(int exponent, double low, double high);
  bool fits(int exponent, double low, double high) const;
  void gather();
  template <typename T>
  void count_in(std::span<const T> values);

  int finest_;
  bool is_placed_ = false;
  double low_ = 0, high_ = 0;  // covered so far
  int exponent_ = 0;           // of the width
  int64_t first_ = 0;          // bin i is [first + i, first + i + 1) × 2^exponent
  uint64_t recently_added_ = 0;
  std::vector<uint64_t> counts_;
  Recent* recent_ = nullptr;  // counts since they were gathered, `tables` by `size`
};

}  // namespace onnxfs
