#include "fs/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "fs/byte_size.h"
#include "fs/terminal.h"

namespace onnxfs {

std::string progress_text(const std::string& what, uint64_t done, uint64_t total, double seconds) {
  const ByteUnit unit = byte_unit_of(static_cast<double>(total));
  const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
  const ByteUnit rate_unit = byte_unit_of(rate);
  const double left = static_cast<double>(total - std::min(done, total)) / std::max(rate, 1.0);
  return fmt::format("{}: {:.1f} of {:.1f} {}, {:.0f} {}/s, {:.0f} s left", what, static_cast<double>(done) / unit.size,
                     static_cast<double>(total) / unit.size, unit.name, rate / rate_unit.size, rate_unit.name, left);
}

bool ProgressLine::is_time() {
  constexpr std::chrono::milliseconds first(1000), between(100);
  const auto now = Clock::now();
  if (now - begin_ < first || now - drawn_ < between) return false;
  drawn_ = now;  // where there is no terminal too, so that this is not asked each time
  if (::isatty(STDERR_FILENO) == 0) return false;
  is_drawn_ = true;
  return true;
}

void ProgressLine::show(uint64_t done, uint64_t total) {
  if (!is_time()) return;
  std::fprintf(stderr, "\r%s\033[K", progress_text(what_, done, total, seconds()).c_str());
}

void ProgressLine::say(const std::string& text) {
  if (!is_time()) return;
  const size_t columns = terminal_columns(STDERR_FILENO).value_or(usual_columns);
  std::fprintf(stderr, "\r%s\033[K", text.substr(0, columns - 1).c_str());
}

void ProgressLine::wipe() {
  if (is_drawn_) std::fputs("\r\033[K", stderr);
  is_drawn_ = false;
}

ProgressLine::~ProgressLine() { wipe(); }

}  // namespace onnxfs
