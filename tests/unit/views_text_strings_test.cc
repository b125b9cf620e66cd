// Strings as text: a JSON string a line.
#include <nlohmann/json.hpp>

#include "core/bytes/utf8.h"
#include "core/views/text.h"
#include "tests/unit/allocations.h"
#include "tests/unit/contents.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using testing::strings_content;

std::string lines_of(const std::vector<std::string>& strings) { return text(strings_content(strings)).text(); }

// What Python's json.loads(line).encode(errors="surrogateescape") makes of a line.
std::string read_back(const std::string& line) {
  std::string bytes, escaped;
  for (size_t i = 0; i < line.size();) {
    if (line.compare(i, 4, "\\udc") == 0) {
      // Parsed apart, since it is half a pair that no UTF-8 can hold: what stands before it ends here.
      escaped += "\",\"\\u00" + line.substr(i + 4, 2) + "\",\"";
      i += 6;
    } else {
      const size_t length = line[i] == '\\' ? 2 : 1;
      escaped += line.substr(i, length);
      i += length;
    }
  }
  const auto parts = nlohmann::json::parse("[" + escaped + "]");
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part = parts[i].get<std::string>();
    if (i % 2 == 0) bytes += part;
    else bytes += static_cast<char>((static_cast<uint8_t>(part[0]) & 3) << 6 | (static_cast<uint8_t>(part[1]) & 0x3f));
  }
  return bytes;
}

TEST(TextOfStrings, IsAJsonStringALine) {
  EXPECT_EQ(lines_of({}), "");
  EXPECT_EQ(lines_of({"", "abc", "d\xc3\xa9j\xc3\xa0", "\xf0\x9f\x98\x80"}),
            "\"\"\n\"abc\"\n\"d\xc3\xa9j\xc3\xa0\"\n\"\xf0\x9f\x98\x80\"\n");
  EXPECT_EQ(lines_of({"a\"b\\c\nd\te\rf"}), "\"a\\\"b\\\\c\\nd\\te\\rf\"\n");
  EXPECT_EQ(lines_of({std::string("\0\x1b\x7f", 3), "\xc2\x85"}), "\"\\u0000\\u001b\\u007f\"\n\"\\u0085\"\n");
}

TEST(TextOfStrings, BytesThatAreNoUtf8AreHalvesOfPairs) {
  EXPECT_EQ(lines_of({"\xff"}), "\"\\udcff\"\n");
  EXPECT_EQ(lines_of({"a\xc3"}), "\"a\\udcc3\"\n");
  EXPECT_EQ(lines_of({"\xed\xb3\xbf"}), "\"\\udced\\udcb3\\udcbf\"\n");  // such a half, in what would be its UTF-8
  EXPECT_EQ(lines_of({"\xe2\x82", "\xac"}), "\"\\udce2\\udc82\"\n\"\\udcac\"\n");
}

TEST(TextOfStrings, EveryRangeIsRight) {
  const Rope lines = text(strings_content({"abc", "", "\xff\xfe", "", "a longer one", "\xe2\x82\xac\n"}));
  testing::expect_every_read_alike(lines, lines.text());
}

TEST(TextOfStrings, AnyBytesReadBack) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 60, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random() % 3 == 0 ? random() : "a\xe2\x82\xac\xf0\x9f\x98\x80\""[random() % 9]);
    const std::string line = lines_of({bytes});
    ASSERT_TRUE(is_utf8(line));
    ASSERT_EQ(line.back(), '\n');
    ASSERT_EQ(read_back(line.substr(0, line.size() - 1)), bytes);
  }
}

// Longer than all that is converted at once, with characters across the borders of the pieces.
TEST(TextOfStrings, LongStringsAreRightWhereverTheyAreRead) {
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string long_one(shift, 'x');
    for (int i = 0; i < 60'000; ++i) long_one += "\xe2\x82\xac\xff";
    const Rope lines = text(strings_content({"before", long_one, "after"}));
    std::string expected = "\"before\"\n\"" + std::string(shift, 'x');
    for (int i = 0; i < 60'000; ++i) expected += "\xe2\x82\xac\\udcff";
    testing::expect_reads_alike(lines, expected + "\"\n\"after\"\n");
  }
}

TEST(TextOfStrings, ManyStringsAreRightWhereverTheyAreRead) {
  std::mt19937_64 random(22);
  std::vector<std::string> strings;
  std::string expected;
  for (int i = 0; i < 50'000; ++i) {
    strings.emplace_back(random() % 12, static_cast<char>('a' + random() % 26));
    expected += '"' + strings.back() + "\"\n";
  }
  testing::expect_reads_alike(text(strings_content(strings)), expected);
}

TEST(TextOfStrings, ItsIndexIsSmall) {
  auto zeros = std::make_shared<testing::PatchworkSource>();
  constexpr uint64_t strings = 1 << 20;
  zeros->hole(4 * strings);
  const TensorContent content = testing::content_of(string_type, {strings}, Rope::of(zeros));
  const testing::AllocationWatch watch;
  EXPECT_EQ(text(content).size(), 3 * strings);
  EXPECT_LE(watch.bytes(), 128 * 1024u);
}

TEST(TextOfStrings, PayloadsThatAreNoStringsAreRefused) {
  const auto make = [](int64_t elements, const std::string& payload) {
    text(testing::content_of(string_type, {elements}, payload));
  };
  EXPECT_ERROR(make(1, std::string("\0\0\0", 3)), EIO, "string 0 of the payload ends in its length");
  EXPECT_ERROR(make(2, std::string("\0\0\0\0\5\0\0\0abcd", 12)), EIO, "string 1 of the payload leads past its end");
  EXPECT_ERROR(make(3, testing::strings_payload({"a", "b"})), EIO, "is 2 strings, not 3");
  EXPECT_ERROR(make(1, "\xff\xff\xff\xff"), EIO, "leads past its end");
}

TEST(TextOfStrings, FailsAsItsPayloadDoes) {
  const SourcePtr failing = std::make_shared<testing::FailingSource>(10, ESTALE);
  EXPECT_ERROR(text(testing::content_of(string_type, {1}, Rope::of(failing))), ESTALE, "on fire");
}

}  // namespace
}  // namespace onnxfs
