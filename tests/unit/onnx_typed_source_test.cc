#include "core/onnx/typed_source.h"

#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/layouts.h"
#include "tests/unit/sources.h"
#include "tests/unit/typed_fields.h"

namespace onnxfs {
namespace {

using testing::all_layouts;
using testing::guarded;
using testing::Layout;
using testing::Message;
using testing::read_all;
using testing::read_text;
using testing::typed_rules;
using testing::TypedFieldWriter;
using testing::TypedRule;

// So many that there are several checkpoints, and no whole number of anything.
constexpr uint64_t many_entries = 13'007;

std::string name_of(const TypedRule& rule, Layout layout) {
  return std::string(find_data_type(rule.data_type)->name) + " in layout " + std::to_string(static_cast<int>(layout));
}

TEST(TypedSource, RulesCoverEveryTypeButStrings) {
  ASSERT_EQ(typed_rules().size(), all_data_types().size() - 1);
  for (const TypedRule& rule : typed_rules()) {
    EXPECT_EQ(rule.field, static_cast<uint32_t>(find_data_type(rule.data_type)->typed_field));
  }
}

TEST(TypedSource, EveryTypeIsItsPayloadWhereverItIsRead) {
  std::mt19937_64 random(9);
  for (const TypedRule& rule : typed_rules()) {
    for (const Layout layout : all_layouts) {
      SCOPED_TRACE(name_of(rule, layout));
      const uint64_t elements = many_entries * rule.per_entry / rule.per_element - 1;
      const auto field = TypedFieldWriter(rule, random()).write(elements, layout);
      const TypedSource source(guarded(field.message.str()), testing::layout_of(field.tensor));
      ASSERT_EQ(source.size(), field.payload.size());
      ASSERT_TRUE(read_all(source) == field.payload);
      for (int i = 0; i < 60; ++i) {
        const size_t at = random() % field.payload.size();
        const size_t most = std::min<size_t>(field.payload.size() - at, i % 2 == 0 ? 40 : 9000);
        const size_t length = random() % (most + 1);
        ASSERT_TRUE(read_text(source, at, length) == field.payload.substr(at, length)) << at << " + " << length;
      }
    }
  }
}

TEST(TypedSource, EveryRangeOfAFewElementsIsRight) {
  for (const TypedRule& rule : typed_rules()) {
    for (const Layout layout : all_layouts) {
      for (uint64_t elements = 1; elements <= 9; ++elements) {
        SCOPED_TRACE(name_of(rule, layout));
        const auto field = TypedFieldWriter(rule, elements).write(elements, layout);
        const TypedSource source(guarded(field.message.str()), testing::layout_of(field.tensor));
        for (size_t at = 0; at <= field.payload.size(); ++at) {
          for (size_t length = 0; length <= field.payload.size() - at; ++length) {
            ASSERT_EQ(read_text(source, at, length), field.payload.substr(at, length)) << elements << " elements";
          }
        }
      }
    }
  }
}

// The last bytes of each checkpoint's span and the first of the next.
TEST(TypedSource, ReadsAcrossCheckpoints) {
  for (const TypedRule& rule : typed_rules()) {
    for (const Layout layout : all_layouts) {
      SCOPED_TRACE(name_of(rule, layout));
      const auto field = TypedFieldWriter(rule, 10).write(9000 * rule.per_entry / rule.per_element, layout);
      const TypedSource source(guarded(field.message.str()), testing::layout_of(field.tensor));
      const size_t span = rule.width == 0 ? 4096 / 4 * 3 : 4096 * rule.width;
      for (const size_t border : {span, 2 * span}) {
        for (size_t at = border - 10; at < border + 10; ++at) {
          ASSERT_EQ(read_text(source, at, 20), field.payload.substr(at, 20)) << at;
        }
      }
    }
  }
}

TEST(TypedSource, AnotherCountOfEntriesIsAnError) {
  for (const TypedRule& rule : typed_rules()) {
    for (const Layout layout : all_layouts) {
      for (const uint64_t elements : {uint64_t{8}, many_entries}) {
        for (const int64_t surplus : {-2, -1, 1, 2, 5000}) {
          SCOPED_TRACE(name_of(rule, layout));
          const auto field = TypedFieldWriter(rule, elements).write(elements, layout, surplus);
          const std::string needs = "its shape needs " + std::to_string(typed_entries(*field.tensor.type(), elements));
          EXPECT_ERROR(TypedSource(guarded(field.message.str()), testing::layout_of(field.tensor)), EBADMSG, needs);
        }
      }
    }
  }
}

TypedSource numbers(const Message& message, uint64_t elements) {
  Tensor tensor;
  tensor.message = {0, message.size()};
  tensor.data_type = 7;
  tensor.elements = elements;
  tensor.nbytes = 8 * elements;
  return TypedSource(guarded(message.str()), testing::layout_of(tensor));
}

TEST(TypedSource, CorruptRunsAreErrorsOfReading) {
  const std::string run(5000, '\x01');
  EXPECT_EQ(numbers(Message().bytes(7, run), 5000).size(), 40'000u);
  EXPECT_ERROR(numbers(Message().bytes(7, run + "\x80"), 5001), EBADMSG, "truncated at offset 5004");
  EXPECT_ERROR(numbers(Message().bytes(7, run + testing::varint_bytes(1, 11)), 5001), EBADMSG, "corrupt at offset");
  EXPECT_ERROR(numbers(Message().bytes(7, run + std::string(3000, '\xff')), 5001), EBADMSG, "corrupt at offset");
}

TEST(TypedSource, MessageIsOneOfManyInItsFile) {
  const auto field = TypedFieldWriter(typed_rules()[5], 11).write(100, Layout::mixed);
  const Message before = Message().packed(5, {1, 2, 3}), after = Message().packed(5, {4, 5, 6});
  Tensor tensor = field.tensor;
  tensor.message = {before.size(), before.size() + field.message.size()};
  const TypedSource source(guarded(before.str() + field.message.str() + after.str()), testing::layout_of(tensor));
  EXPECT_EQ(read_all(source), field.payload);
}

TEST(TypedSource, LendsCopies) {
  const auto field = TypedFieldWriter(typed_rules()[6], 12).write(100, Layout::packed);
  Borrowed bytes;
  {
    const TypedSource source(guarded(field.message.str()), testing::layout_of(field.tensor));
    bytes = source.borrow(3, 50);
  }
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data), bytes.size), field.payload.substr(3, 50));
}

TEST(TypedSource, AnyReadCostsAboutWhatItAsksFor) {
  const auto source = std::make_shared<testing::PatchworkSource>();
  constexpr uint64_t count = 4'000'000;
  source->text(testing::header_bytes(7, count)).hole(count);
  Tensor tensor;
  tensor.message = {0, source->size()};
  tensor.data_type = 7;
  tensor.elements = count;
  tensor.nbytes = 8 * count;
  const TypedSource typed(source, testing::layout_of(tensor));
  for (const uint64_t at : {uint64_t{0}, tensor.nbytes / 2 + 5, tensor.nbytes - 4096}) {
    const uint64_t before = source->bytes_read();
    EXPECT_EQ(read_text(typed, at, 4096), std::string(4096, '\0'));
    EXPECT_LE(source->bytes_read() - before, 32 * 1024u) << at;
  }
}

TEST(TypedSource, IsStaleWhenItsFileIs) {
  const auto field = TypedFieldWriter(typed_rules()[6], 13).write(10, Layout::packed);
  EXPECT_NO_THROW(TypedSource(guarded(field.message.str()), testing::layout_of(field.tensor)).require_current());
  for (const int code : {ESTALE, EIO}) {
    const SourcePtr failing = std::make_shared<testing::FailingSource>(field.message.size(), code);
    EXPECT_ERROR(TypedSource(failing, testing::layout_of(field.tensor)), code, "on fire");
  }
}

}  // namespace
}  // namespace onnxfs
