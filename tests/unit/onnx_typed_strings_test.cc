// Strings as a payload: each its length in four bytes, and its bytes.
#include <gtest/gtest.h>

#include <random>

#include "core/onnx/typed_source.h"
#include "tests/unit/errors.h"
#include "tests/unit/layouts.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::guarded;
using testing::Message;
using testing::read_all;
using testing::read_text;

struct Strings {
  Message message;
  std::string payload;
  uint64_t count = 0;

  void add(const std::string& text) {
    message.bytes(6, text);
    payload += testing::fixed_bytes(text.size(), 4) + text;
    ++count;
  }
  Tensor tensor() const {
    Tensor tensor;
    tensor.message = {0, message.size()};
    tensor.data_type = string_type;
    tensor.elements = count;
    tensor.nbytes = payload.size();
    return tensor;
  }
  TypedSource source() const { return {guarded(message.str()), testing::layout_of(tensor())}; }
};

TEST(TypedStrings, EveryRangeIsRight) {
  Strings strings;
  for (const std::string text : {"abc", "", "d", "", "", "\xff\xfe", "a longer one"}) strings.add(text);
  strings.add(std::string("nul\0in it", 9));
  const TypedSource source = strings.source();
  ASSERT_EQ(source.size(), strings.payload.size());
  for (size_t at = 0; at <= strings.payload.size(); ++at) {
    for (size_t length = 0; length <= strings.payload.size() - at; ++length) {
      ASSERT_EQ(read_text(source, at, length), strings.payload.substr(at, length)) << at << " + " << length;
    }
  }
}

TEST(TypedStrings, ManyOfThemAreRightWhereverTheyAreRead) {
  std::mt19937_64 random(14);
  Strings strings;
  for (int i = 0; i < 13'001; ++i) {
    if (random() % 10 == 0) strings.message.varint(6, 1).bytes(8, "not an element");
    std::string text(random() % 4 == 0 ? 0 : random() % 30, '\0');
    for (char& c : text) c = static_cast<char>(random());
    if (i % 3000 == 7) text.assign(100'000, 'L');
    strings.add(text);
  }
  const TypedSource source = strings.source();
  ASSERT_TRUE(read_all(source) == strings.payload);
  for (int i = 0; i < 1000; ++i) {
    const size_t at = random() % strings.payload.size();
    const size_t length = random() % (std::min<size_t>(strings.payload.size() - at, 5000) + 1);
    ASSERT_TRUE(read_text(source, at, length) == strings.payload.substr(at, length)) << at << " + " << length;
  }
}

TEST(TypedStrings, OnlyEmptyOnes) {
  Strings strings;
  for (int i = 0; i < 5000; ++i) strings.add("");
  EXPECT_EQ(read_all(strings.source()), std::string(20'000, '\0'));
}

TEST(TypedStrings, AnotherCountIsAnError) {
  Strings strings;
  for (int i = 0; i < 5000; ++i) strings.add("s");
  for (const uint64_t count : {4999u, 5001u}) {
    Tensor tensor = strings.tensor();
    tensor.elements = count;
    EXPECT_ERROR(TypedSource(guarded(strings.message.str()), testing::layout_of(tensor)), EBADMSG,
                 "string_data has 5000 entries, its shape needs " + std::to_string(count));
  }
  Tensor of_another_size = strings.tensor();
  ++of_another_size.nbytes;
  EXPECT_ERROR(TypedSource(guarded(strings.message.str()), testing::layout_of(of_another_size)), EBADMSG, "");
}

TEST(TypedStrings, LargeOnesAreNotRead) {
  constexpr uint64_t size = 100 << 20;
  const auto source = std::make_shared<testing::PatchworkSource>();
  for (int i = 0; i < 20; ++i) source->text(testing::header_bytes(6, size)).hole(size);
  Tensor tensor;
  tensor.message = {0, source->size()};
  tensor.data_type = string_type;
  tensor.elements = 20;
  tensor.nbytes = 20 * (4 + size);
  const TypedSource strings(source, testing::layout_of(tensor));
  EXPECT_EQ(read_text(strings, 19 * (4 + size), 6), testing::fixed_bytes(size, 4) + std::string(2, '\0'));
  EXPECT_LE(source->bytes_read(), 20 * 3 * 8192u);
}

TEST(TypedStrings, AnyReadCostsAboutWhatItAsksFor) {
  Strings strings;
  for (int i = 0; i < 100'000; ++i) strings.add("ten bytes.");
  const auto source = std::make_shared<testing::PatchworkSource>();
  source->text(strings.message.str());
  const TypedSource typed(source, testing::layout_of(strings.tensor()));
  for (const size_t at : {size_t{0}, strings.payload.size() / 2, strings.payload.size() - 100}) {
    const uint64_t before = source->bytes_read();
    EXPECT_EQ(read_text(typed, at, 100), strings.payload.substr(at, 100));
    EXPECT_LE(source->bytes_read() - before, 200'000u) << at;
  }
}

TEST(TypedStrings, LengthMustFitInFourBytes) {
  const auto open = [](uint64_t size) {
    const auto source = std::make_shared<testing::PatchworkSource>();
    source->text(testing::header_bytes(6, size)).hole(size);
    Tensor tensor;
    tensor.message = {0, source->size()};
    tensor.data_type = string_type;
    tensor.elements = 1;
    tensor.nbytes = 4 + size;
    return TypedSource(source, testing::layout_of(tensor)).size();
  };
  EXPECT_EQ(open(UINT32_MAX), uint64_t{UINT32_MAX} + 4);
  EXPECT_ERROR(open(uint64_t{UINT32_MAX} + 1), EBADMSG, "element 0 is a string of 4294967296 bytes");
}

}  // namespace
}  // namespace onnxfs
