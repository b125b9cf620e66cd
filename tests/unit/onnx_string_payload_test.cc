#include "core/onnx/string_payload.h"

#include <gtest/gtest.h>

#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

std::string framed(const std::string& text) {
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  return bytes + text;
}

std::optional<uint64_t> count(const std::string& bytes) { return count_strings(Rope::of(testing::guarded(bytes))); }

TEST(CountStrings, CountsWhatHasItsLengthBeforeIt) {
  EXPECT_EQ(count(""), 0u);
  EXPECT_EQ(count(framed("")), 1u);
  EXPECT_EQ(count(framed("a") + framed("") + framed(std::string(300, 'x'))), 3u);
}

TEST(CountStrings, GoesOverPiecesOfAnySize) {
  std::string bytes;
  for (size_t i = 0; i < 3000; ++i) bytes += framed(std::string(i % 97, 'x'));
  bytes += framed(std::string(200'000, 'y')) + framed("z");
  EXPECT_EQ(count(bytes), 3002u);
  EXPECT_EQ(count(bytes.substr(0, bytes.size() - 1)), std::nullopt);
}

TEST(CountStrings, HasNothingForLengthsThatLeadPastTheEnd) {
  const std::string sound = framed("abc") + framed("d");
  for (size_t n = 1; n < sound.size(); ++n) {
    if (n == framed("abc").size()) continue;
    EXPECT_EQ(count(sound.substr(0, n)), std::nullopt) << n;
  }
  EXPECT_EQ(count(std::string(4, '\xff')), std::nullopt);
  EXPECT_EQ(count(std::string(4, '\xff') + std::string(100, 'x')), std::nullopt);
}

}  // namespace
}  // namespace onnxfs
