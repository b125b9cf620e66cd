// What is done with bytes that anybody may have made: by libFuzzer for hours, and in each run of the tests for seconds.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace onnxfs::fuzz {

// Something that holds for every input did not for this one. It is no Error, so that nobody takes it for a refusal.
class Violation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <typename... Args>
void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) throw Violation(fmt::format(format, std::forward<Args>(args)...));
}

// An interface of the program that reads what others wrote, and what has to hold of it. Deterministic: the same input
// does the same. One thread in a process.
struct Target {
  std::string_view name;
  size_t longest;  // input that is worth trying, in bytes
  void (*run)(
      std::string_view input);  // throws a Violation, or anything that should have been an Error; else it is well
  std::vector<std::string> (*seeds)();  // inputs from which others are made by damage

  friend void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }
};

std::span<const Target> all_targets();
const Target& find_target(std::string_view name);

// Runs something that may refuse its input, and returns with which words it did; "" when it did not. They have to be
// one printable line, with an errno.
std::string refusal(const std::function<void()>& work);
bool accepted(const std::function<void()>& work);

}  // namespace onnxfs::fuzz
