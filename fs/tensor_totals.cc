#include "fs/tensor_totals.h"

#include <algorithm>
#include <limits>

namespace onnxfs {

namespace {

uint64_t saturating_sum(uint64_t a, uint64_t b) { return a + std::min(b, std::numeric_limits<uint64_t>::max() - a); }

}  // namespace

void Totals::add(std::string_view of, uint64_t nbytes) {
  const auto [found, is_new] = known_.emplace(of, list_.size());
  if (is_new) list_.push_back({found->first});
  Total& total = list_[found->second];
  ++total.tensors;
  total.nbytes = saturating_sum(total.nbytes, nbytes);
}

Total Totals::all() const {
  Total sum;
  for (const Total& total : list_) {
    sum.tensors += total.tensors;
    sum.nbytes = saturating_sum(sum.nbytes, total.nbytes);
  }
  return sum;
}

std::string_view layer_of(std::string_view path) {
  size_t begin = 0, last_separator = 0;
  for (size_t end; (end = path.find_first_of("/.", begin)) != path.npos; begin = end + 1) {
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; })) {
      return path.substr(0, end);
    }
    last_separator = end;
  }
  return path.substr(0, last_separator);
}

}  // namespace onnxfs
