#include "core/views/json_lines.h"

#include <gtest/gtest.h>

namespace onnxfs {
namespace {

TEST(JsonQuote, ReadsBackAsTheSameText) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  for (const std::string& text : {std::string(), std::string("plain"), all, std::string("é中\U0001F600\u2028\u0085")}) {
    const std::string quoted = json_quote(text);
    EXPECT_EQ(nlohmann::json::parse(quoted), text);
    for (const char c : quoted) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
  EXPECT_EQ(json_quote("plain"), "\"plain\"");
  EXPECT_EQ(json_quote("a\"b\\\n"), R"("a\"b\\\n")");
}

TEST(JsonQuote, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(json_quote("a\xff"), "\"a\uFFFD\"");
  EXPECT_EQ(json_quote("\xc3"), "\"\uFFFD\"");
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
