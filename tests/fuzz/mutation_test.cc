// A short run of each fuzz target, the same each time: its seeds, and what damage makes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "tests/fuzz/target.h"

namespace onnxfs::fuzz {
namespace {

// Numbers that lie on borders, as bytes.
constexpr std::array<uint8_t, 9> borders{0, 1, 4, 15, 16, 0x7f, 0x80, 0xfe, 0xff};

class Damage {
 public:
  Damage(std::vector<std::string> seeds, size_t longest, uint64_t seed)
      : seeds_(std::move(seeds)), longest_(longest), random_(seed) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (uint64_t turns = 1 + below(4); turns != 0; --turns) change(text);
    text.resize(std::min(text.size(), longest_));
    return text;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  void change(std::string& text) {
    if (text.empty()) text.push_back('\0');
    const size_t at = below(text.size());
    const size_t few = 1 + below(std::min<size_t>(text.size() - at, 8));
    switch (below(8)) {
      case 0: text[at] = static_cast<char>(random_()); break;
      case 1: text[at] = static_cast<char>(text[at] ^ 1 << below(8)); break;
      case 2: text[at] = static_cast<char>(borders[below(borders.size())]); break;
      case 3: text.erase(at, few); break;
      case 4: text.insert(at, few, static_cast<char>(random_())); break;
      case 5: text.insert(below(text.size()), std::string(text, at, 1 + below(64))); break;
      case 6: text.resize(at); break;
      default: {
        const std::string& other = seeds_[below(seeds_.size())];
        if (!other.empty()) text.insert(at, other, below(other.size()), 1 + below(64));
      }
    }
  }

  std::vector<std::string> seeds_;
  size_t longest_;
  std::mt19937_64 random_;
};

std::string hexadecimal(std::string_view text) {
  std::string digits;
  for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return digits;
}

class FuzzTest : public ::testing::TestWithParam<Target> {
 protected:
  // Whether the target held; else the test has failed, with the input.
  static bool holds(std::string_view input) {
    try {
      GetParam().run(input);
      return true;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\ninput: " << hexadecimal(input);
      return false;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, ::testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(FuzzTest, HoldsForItsSeeds) {
  for (const std::string& seed : GetParam().seeds()) {
    EXPECT_LE(seed.size(), GetParam().longest);
    holds(seed);
  }
}

// Set ONNXFS_SEED to try others.
TEST_P(FuzzTest, HoldsForDamagedSeeds) {
  const char* seed = std::getenv("ONNXFS_SEED");
  Damage damage(GetParam().seeds(), GetParam().longest, seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10));
  constexpr int inputs = 2000;
  for (int i = 0; i < inputs; ++i) {
    if (!holds(damage.next())) return;
  }
}

}  // namespace
}  // namespace onnxfs::fuzz
