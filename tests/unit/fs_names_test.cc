#include "fs/names.h"

#include <gtest/gtest.h>

#include <random>

#include "core/bytes/utf8.h"

namespace onnxfs {
namespace {

using namespace std::string_literals;

using Components = std::vector<std::string>;

std::string repeated(const std::string& text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string only(const std::string& name) {
  const Components components = path_components(name);
  EXPECT_EQ(components.size(), 1u);
  return components.at(0);
}

TEST(PathComponents, OrdinaryNamesAreTheirPaths) {
  for (const std::string name : {"conv1.weight",
                                 "onnx::MatMul_636",
                                 "a:0",
                                 " sp ace ",
                                 "é中\U0001F600",
                                 "%41",
                                 "%2E",
                                 "per%cent",
                                 "back\\slash",
                                 "...",
                                 "..a",
                                 "a.",
                                 ".hidden",
                                 "~",
                                 "a@2",
                                 "a.bin",
                                 "*?\"'<>|",
                                 "\u00a0",
                                 "\u2027",
                                 "unnamed",
                                 "-rf"}) {
    EXPECT_EQ(path_components(name), Components{name});
  }
}

TEST(PathComponents, SlashesPartThemAndEmptyOnesVanish) {
  EXPECT_EQ(path_components("encoder/layer.0/W"), (Components{"encoder", "layer.0", "W"}));
  EXPECT_EQ(path_components("/a"), Components{"a"});
  EXPECT_EQ(path_components("//a///b//"), (Components{"a", "b"}));
}

TEST(PathComponents, NothingLeftIsUnnamed) {
  for (const std::string name : {"", "/", "////"}) EXPECT_EQ(path_components(name), Components{"unnamed"});
}

TEST(PathComponents, DotsAreSpelled) {
  EXPECT_EQ(path_components("."), Components{"%2E"});
  EXPECT_EQ(path_components(".."), Components{"%2E%2E"});
  EXPECT_EQ(path_components("../../etc/passwd"), (Components{"%2E%2E", "%2E%2E", "etc", "passwd"}));
  EXPECT_EQ(path_components("./x/.."), (Components{"%2E", "x", "%2E%2E"}));
}

TEST(PathComponents, ControlCharactersAreSpelledByteByByte) {
  EXPECT_EQ(only("a\nb\tc"), "a%0Ab%09c");
  EXPECT_EQ(only("\0"s), "%00");
  EXPECT_EQ(only("\x1f\x20\x7e\x7f"), "%1F\x20\x7e%7F");
  EXPECT_EQ(only("a\u202eb\u2028\u2066"), "a%E2%80%AEb%E2%80%A8%E2%81%A6");
  EXPECT_EQ(only("\u0080\u0085\u009f\u00a0"), "%C2%80%C2%85%C2%9F\u00a0");
}

TEST(PathComponents, BytesThatAreNotUtf8AreSpelled) {
  EXPECT_EQ(only("a\xff"), "a%FF");
  EXPECT_EQ(only("\xc3"), "%C3");
  EXPECT_EQ(only("\xc3("), "%C3(");
  EXPECT_EQ(only("\xed\xa0\x80"), "%ED%A0%80");
  EXPECT_EQ(only("\xc0\x80"), "%C0%80");
  EXPECT_EQ(only("\xe4\xb8\xad\xe4\xb8"), "中%E4%B8");
  EXPECT_EQ(only("\xf4\x90\x80\x80"), "%F4%90%80%80");
}

TEST(PathComponents, LongOnesAreCutAndHashed) {
  EXPECT_EQ(only(std::string(200, 'a')), std::string(200, 'a'));
  // The hashes are those of `xxhsum -H3`.
  EXPECT_EQ(only(std::string(201, 'a')), std::string(180, 'a') + "~9ba5e943ffc97e50");
  EXPECT_EQ(only(repeated("\x01", 66)), repeated("%01", 66));
  EXPECT_EQ(only(repeated("\x01", 67)), repeated("%01", 60) + "~5cbe74ce78d03931");
  EXPECT_EQ(only(std::string(179, 'a') + repeated("é", 20)), std::string(179, 'a') + "~a9edae403bb8d72a");
  EXPECT_EQ(path_components("dir/" + std::string(201, 'a') + "/b"),
            (Components{"dir", std::string(180, 'a') + "~9ba5e943ffc97e50", "b"}));
}

// What stands around the cut, and how many bytes of the component are kept.
TEST(PathComponents, CutsFallBetweenCharactersAndEscapes) {
  struct Case {
    size_t before;
    std::string unit, spelled;
    size_t kept;
  };
  for (const Case& around : {
           Case{178, "é", "é", 180}, Case{179, "é", "é", 179}, Case{177, "中", "中", 180}, Case{178, "中", "中", 178},
           Case{179, "中", "中", 179}, Case{176, "\U0001F600", "\U0001F600", 180},
           Case{177, "\U0001F600", "\U0001F600", 177}, Case{179, "\U0001F600", "\U0001F600", 179},
           Case{177, "\x01", "%01", 180}, Case{178, "\x01", "%01", 178}, Case{179, "\xff", "%FF", 179},
           Case{177, "\u0085", "%C2%85", 180},                                // each byte is an escape
           Case{178, "\u0085", "%C2%85", 178}, Case{178, "%41", "%41", 180},  // no escape of ours
       }) {
    const std::string name = std::string(around.before, 'x') + repeated(around.unit, 40);
    const std::string whole = std::string(around.before, 'x') + repeated(around.spelled, 40);
    const std::string got = only(name);
    EXPECT_EQ(got.substr(0, got.find('~')), whole.substr(0, around.kept)) << around.before << around.spelled;
    EXPECT_EQ(got.size(), around.kept + 17);
  }
}

TEST(PathComponents, LongNamesThatDifferOnlyLateDiffer) {
  EXPECT_NE(only(std::string(300, 'x') + "1"), only(std::string(300, 'x') + "2"));
  EXPECT_NE(only(std::string(300, 'x')), only(std::string(301, 'x')));
}

TEST(PathComponents, WhateverTheNameTheyAreGoodFileNames) {
  std::mt19937_64 random(16);
  const std::string pieces[] = {"a", ".",  "..",   "/", "\n", "\xff", "\xc2", "\xc2\x85",
                                "é", "中", "\xe4", "%", "~",  " ",    "\0"s,  "\x7f"};
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (uint64_t count = random() % (i % 10 == 0 ? 400 : 8); count != 0; --count) {
      name += random() % 4 == 0 ? std::string(1, static_cast<char>(random())) : pieces[random() % std::size(pieces)];
    }
    const Components components = path_components(name);
    ASSERT_FALSE(components.empty());
    ASSERT_EQ(path_components(name), components);
    for (const std::string& component : components) {
      ASSERT_TRUE(is_utf8(component));
      ASSERT_GE(component.size(), 1u);
      ASSERT_LE(component.size(), 200u);
      ASSERT_TRUE(component != "." && component != "..");
      for (size_t at = 0; at < component.size(); ++at) {
        const auto c = static_cast<unsigned char>(component[at]);
        ASSERT_TRUE(c >= 0x20 && c != 0x7f && c != '/');
        const auto next = static_cast<unsigned char>(at + 1 < component.size() ? component[at + 1] : 0xff);
        ASSERT_FALSE(c == 0xc2 && next < 0xa0);
      }
    }
  }
}

}  // namespace
}  // namespace onnxfs
