#include "core/onnx/external_reference.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using namespace std::string_literals;
using testing::Message;

using Entries = std::vector<std::pair<std::string, std::string>>;

ExternalReference parsed(const Entries& entries) {
  const Message message = testing::external(Message(), entries);
  wire::Window window(testing::guarded(message.str()));
  TensorFields fields;
  fields.scan(window, {0, message.size()});
  return parse_external(window, fields.external_data);
}

TEST(ExternalReference, LocationAloneIsEnough) {
  const ExternalReference reference = parsed({{"location", "w.bin"}});
  EXPECT_EQ(reference.location, "w.bin");
  EXPECT_EQ(reference.offset, 0u);
  EXPECT_EQ(reference.length, std::nullopt);
  EXPECT_EQ(reference.checksum, "");
  EXPECT_TRUE(reference.unknown.empty());
}

TEST(ExternalReference, ReadsAllKeysInAnyOrder) {
  const ExternalReference reference =
      parsed({{"checksum", "da39"}, {"length", "20"}, {"offset", "4096"}, {"location", "dir/w.bin"}});
  EXPECT_EQ(reference.location, "dir/w.bin");
  EXPECT_EQ(reference.offset, 4096u);
  EXPECT_EQ(reference.length, 20u);
  EXPECT_EQ(reference.checksum, "da39");
}

TEST(ExternalReference, LocationIsTakenAsItIs) {
  for (const std::string& location : {"../x"s, "/x"s, "w\0.bin"s, " w"s, "sub\\w.bin"s, "\xff"s}) {
    EXPECT_EQ(parsed({{"location", location}}).location, location);
  }
}

TEST(ExternalReference, NumbersArePlainDigitsOf63Bits) {
  const auto offset = [](const std::string& text) { return parsed({{"location", "w"}, {"offset", text}}).offset; };
  EXPECT_EQ(offset("0"), 0u);
  EXPECT_EQ(offset("0008"), 8u);
  EXPECT_EQ(offset("9223372036854775807"), uint64_t{INT64_MAX});
  EXPECT_EQ(offset("00000000000000000000000000000009"), 9u);
  for (const std::string& text :
       {"-1"s, "+1"s, " 0"s, "0 "s, "0_0"s, "1e3"s, "1.0"s, "0x10"s, "ten"s, "\0"s, "1\0"s, "\xd9\xa1"s, "/"s, ":"s,
        "9223372036854775808"s, "18446744073709551615"s, "18446744073709551616"s, "99999999999999999999999"s}) {
    EXPECT_ERROR(offset(text), EINVAL, "the offset of its external data is \"");
    EXPECT_ERROR(parsed({{"location", "w"}, {"length", text}}), EINVAL, "the length of its external data is \"");
  }
}

// What they quote comes from the file, and may hold anything.
TEST(ExternalReference, SentencesStayOneLine) {
  EXPECT_ERROR(parsed({{"location", "w"}, {"offset", "1\n"}}), EINVAL, "which is no number of bytes");
  EXPECT_ERROR(parsed({{"location", "w"}, {"length", "\n\x1b[2J"}}), EINVAL, "which is no number of bytes");
}

TEST(ExternalReference, EmptyValuesAreErrors) {
  for (const std::string key : {"location", "offset", "length", "checksum"}) {
    Entries entries{{key, ""}};
    if (key != "location") entries.emplace_back("location", "w");
    EXPECT_ERROR(parsed(entries), EINVAL, "the " + key + " of its external data is empty");
  }
}

TEST(ExternalReference, NoLocationIsAnError) {
  EXPECT_ERROR(parsed({}), EINVAL, "its external data has no location");
  EXPECT_ERROR(parsed({{"offset", "0"}, {"length", "4"}}), EINVAL, "no location");
  EXPECT_ERROR(parsed({{"Location", "w"}}), EINVAL, "no location");
}

TEST(ExternalReference, KeysThatCountMayStandOnce) {
  for (const std::string key : {"location", "offset", "length", "checksum"}) {
    Entries entries{{"location", "w"}, {"offset", "0"}, {"length", "4"}, {"checksum", "c"}};
    const std::string value = key == "location" ? "w" : key == "length" ? "4" : "0";
    entries.emplace_back(key, value);
    EXPECT_ERROR(parsed(entries), EINVAL, "its external data has two entries \"" + key + "\"");
  }
}

TEST(ExternalReference, OtherKeysAreListedOnceEachTimeTheyStand) {
  const ExternalReference reference = parsed({{"Location", "x"},
                                              {"location", "w"},
                                              {"offset ", "0"},
                                              {"", "empty"},
                                              {"basepath", "/"},
                                              {"prepacked_0", "x"},
                                              {"prepacked", "x"},
                                              {"Location", ""}});
  EXPECT_EQ(reference.unknown, (std::vector<std::string>{"Location", "offset ", "", "prepacked", "Location"}));
  EXPECT_EQ(reference.location, "w");
}

TEST(ExternalReference, OverlongTextIsAnErrorAndIsNotRead) {
  EXPECT_EQ(parsed({{"location", std::string(4096, 'x')}}).location.size(), 4096u);
  EXPECT_ERROR(parsed({{"location", std::string(4097, 'x')}}), EINVAL, "a value of its external data has 4097 bytes");
  constexpr uint64_t size = uint64_t{1} << 40;
  const auto source = std::make_shared<testing::PatchworkSource>();
  source->hole(size);
  wire::Window window(source);
  EXPECT_ERROR(parse_external(window, {{{0, size}, {0, 0}, 0}}), EINVAL, "a key of its external data has");
  EXPECT_EQ(source->bytes_read(), 0u);
}

}  // namespace
}  // namespace onnxfs
