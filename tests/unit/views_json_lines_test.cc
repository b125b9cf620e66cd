#include "core/views/json_lines.h"

#include <gtest/gtest.h>

#include "core/bytes/utf8.h"

namespace onnxfs {
namespace {

TEST(JsonQuote, ReadsBackAsTheSameText) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  for (const std::string& text : {std::string(), std::string("plain"), all, std::string("é中\U0001F600\u2028\u0085")}) {
    const std::string quoted = json_quote(text);
    EXPECT_EQ(nlohmann::json::parse(quoted), text);
    EXPECT_EQ(printable(quoted), quoted);
  }
  EXPECT_EQ(json_quote("plain"), "\"plain\"");
  EXPECT_EQ(json_quote("a\"b\\\n"), R"("a\"b\\\n")");
}

TEST(JsonQuote, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(json_quote("a\xff"), "\"a\uFFFD\"");
  EXPECT_EQ(json_quote("\xc3"), "\"\uFFFD\"");
}

TEST(JsonQuote, ControlsAreEscaped) {
  EXPECT_EQ(json_quote("\x7f\u009b31m\u2028\u202e\u2069é\u00a0"), "\"\\u007f\\u009b31m\\u2028\\u202e\\u2069é\u00a0\"");
  EXPECT_EQ(json_inline({{"\u009b", {"\u2066"}}}), R"({"\u009b":["\u2066"]})");
}

TEST(ExactJsonQuote, NoTwoTextsAreWrittenAlike) {
  EXPECT_EQ(exact_json_quote("a\"\\\n\1é"), "\"a\\\"\\\\\\n\\u0001é\"");
  EXPECT_EQ(exact_json_quote("\xff\xc3"), R"("\udcff\udcc3")");
  EXPECT_EQ(exact_json_quote("\xed\xb3\xbf"), R"("\udced\udcb3\udcbf")");  // what a surrogate would be
  EXPECT_EQ(exact_json_quote("\\udcff"), R"("\\udcff")");
  EXPECT_EQ(exact_json_quote("\u009b\u202e"), R"("\u009b\u202e")");
}

TEST(JsonInline, IsOneLine) {
  EXPECT_EQ(json_inline({{"b", 1}, {"a", {1, 2, nullptr}}, {"t", "x\ny\xff"}}),
            "{\"b\":1,\"a\":[1,2,null],\"t\":\"x\\ny\uFFFD\"}");
}

TEST(JsonLines, IsAMemberALine) {
  EXPECT_EQ(JsonLines().take(), "{}\n");
  JsonLines json;
  json.add("z", "[1,2]").add_text("t", "a\nb").add_flag("yes", true).add_flag("no", false);
  json.add_number("n", UINT64_MAX).add_null("o");
  EXPECT_EQ(std::move(json).take(),
            "{\n  \"z\": [1,2],\n  \"t\": \"a\\nb\",\n  \"yes\": true,\n  \"no\": false,\n"
            "  \"n\": 18446744073709551615,\n  \"o\": null\n}\n");
}

}  // namespace
}  // namespace onnxfs
