#include "core/wire/window.h"

#include <gtest/gtest.h>

#include <random>

#include "core/wire/reader.h"
#include "tests/unit/errors.h"
#include "tests/unit/message.h"
#include "tests/unit/sources.h"

namespace onnxfs::wire {
namespace {

using testing::guarded;
using testing::Message;
using testing::PatchworkSource;

std::string noise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Window, GivesTheBytesOfAnyPlace) {
  const std::string text = noise(300'000, 5);
  Window window(guarded(text));
  std::mt19937_64 random(6);
  size_t at = 0;
  for (int i = 0; i < 20'000; ++i) {
    at = random() % 10 == 0 ? random() % text.size() : (at + random() % 300) % text.size();
    const size_t most = 1 + random() % 200;
    const std::string got = text_of(window.at(at, most));
    ASSERT_GE(got.size(), 1u);
    ASSERT_LE(got.size(), most);
    ASSERT_EQ(got, text.substr(at, got.size())) << "at " << at;
    if (i % 16 != 0) continue;
    ASSERT_EQ(window.text({at, std::min(at + 5000, text.size())}), text.substr(at, 5000));
  }
}

TEST(Window, CopiesAcrossItsEdges) {
  const std::string text = noise(200'000, 7);
  for (const size_t step : {1u, 4095u, 4096u, 4097u, 65535u, 65536u, 65537u, 200'000u}) {
    Window window(guarded(text));
    std::string whole;
    for (size_t at = 0; at < text.size(); at += step) whole += window.text({at, std::min(at + step, text.size())});
    EXPECT_TRUE(whole == text) << step;
  }
}

TEST(Window, ReadsALittleAfterAJumpAndMoreInARow) {
  const auto source = std::make_shared<PatchworkSource>();
  source->hole(uint64_t{1} << 40);
  Window window(source);
  for (uint64_t i = 0; i < 100; ++i) window.at(i << 33, 1);
  EXPECT_LE(source->bytes_read(), 100 * 8192u);
  const uint64_t before = source->bytes_read();
  size_t steps = 0;
  for (uint64_t at = 1; at < 10'000'000; ++steps) at += window.at(at, SIZE_MAX).size();
  EXPECT_LT(steps, 300u);
  EXPECT_LE(source->bytes_read() - before, 10'100'000u);
}

TEST(Window, EmptyRangesNeedNoSource) {
  Window window(guarded(""));
  EXPECT_EQ(window.text({0, 0}), "");
  EXPECT_EQ(window.size(), 0u);
}

// Fails when it is told to.
class FlakySource final : public Source {
 public:
  explicit FlakySource(std::string text) : memory_(std::move(text)) {}
  bool failing = false;

  uint64_t size() const noexcept override { return memory_.size(); }
  void read(uint64_t offset, std::span<std::byte> out) const override {
    if (!failing) return memory_.read(offset, out);
    std::ranges::fill(out, std::byte{0x55});
    fail(EIO, "cannot read");
  }

 private:
  MemorySource memory_;
};

TEST(Window, KeepsNothingOfAReadThatFailed) {
  const std::string text = noise(50'000, 8);
  const auto source = std::make_shared<FlakySource>(text);
  Window window(source);
  EXPECT_EQ(text_of(window.at(100, 10)), text.substr(100, 10));
  source->failing = true;
  EXPECT_ERROR(window.at(20'000, 10), EIO, "cannot read");
  source->failing = false;
  EXPECT_EQ(text_of(window.at(100, 10)), text.substr(100, 10));
  EXPECT_EQ(text_of(window.at(20'000, 10)), text.substr(20'000, 10));
}

// A tag, a length and a value on each side of each of the first edges of the buffer.
TEST(Window, FieldsMayStraddleItsEdges) {
  for (const size_t edge : {size_t{4096}, size_t{4096 + 8192}, size_t{4096 + 8192 + 16384}}) {
    for (size_t back = 0; back <= 24; ++back) {
      Message message;
      for (size_t i = 0; i < edge / 2 - 20; ++i) message.varint(1, 1);
      while (message.size() < edge - back) message.varint(1, 1);
      message.varint(300, uint64_t{1} << 60).bytes(301, std::string(200, 'b')).fixed64(302, 1).varint(303, UINT64_MAX);
      Window window(guarded(message.str()));
      Reader reader(window, {0, message.size()});
      Field field;
      while (reader.next(field) && field.number == 1) {
      }
      ASSERT_TRUE(field.is(300, Type::varint)) << edge << " - " << back;
      EXPECT_EQ(field.value, uint64_t{1} << 60);
      ASSERT_TRUE(reader.next(field));
      EXPECT_EQ(window.text(field.payload), std::string(200, 'b'));
      ASSERT_TRUE(reader.next(field));
      EXPECT_TRUE(field.is(302, Type::fixed64));
      ASSERT_TRUE(reader.next(field));
      EXPECT_EQ(field.value, UINT64_MAX);
      EXPECT_FALSE(reader.next(field));
    }
  }
}

TEST(Window, PayloadsAreSkippedAndNotRead) {
  constexpr uint64_t payload = 100 << 20;
  const auto source = std::make_shared<PatchworkSource>();
  const std::string header = testing::header_bytes(9, payload);
  source->text(Message().varint(1, 5).str() + header).hole(payload);
  source->text(Message().group(3, Message().varint(1, 1)).str() + header).hole(payload);
  source->text(testing::tag_bytes(4, 3) + header).hole(payload).text(testing::tag_bytes(4, 4));
  source->text(Message().varint(2, 6).str());
  Window window(source);
  Reader reader(window, {0, window.size()});
  std::vector<uint32_t> numbers;
  for (Field field; reader.next(field);) {
    numbers.push_back(field.number);
    EXPECT_TRUE(field.number != 9 || field.payload.size() == payload);
  }
  EXPECT_EQ(numbers, (std::vector<uint32_t>{1, 9, 3, 9, 4, 2}));
  EXPECT_LE(source->bytes_read(), 32 * 1024u);
}

}  // namespace
}  // namespace onnxfs::wire
