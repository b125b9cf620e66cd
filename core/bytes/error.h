// The one way to fail: an errno for the program that asked, and a sentence for the person who reads the log.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace onnxfs {

// Thrown by value, caught by const reference. The sentence names the file, the tensor and the offset where they
// are known, and the way out where there is one; it is one printable line, whatever names it quotes, without a full
// stop.
class Error : public std::exception {
 public:
  Error(int code, std::string_view sentence);

  int code() const noexcept { return code_; }  // an errno, never 0
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  int code_;
  std::string sentence_;
};

template <typename... Args>
[[noreturn]] void fail(int code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

// The system's words for an errno, as strerror gives them, from any thread.
std::string describe_errno(int code);

}  // namespace onnxfs
