#include "core/bytes/rope.h"

#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "tests/unit/errors.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::FailingSource;
using testing::guarded;

std::string read(const Rope& rope, uint64_t offset, size_t length) {
  std::string text(length, '?');
  rope.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string joined(const BorrowedBytes& bytes) {
  std::string text;
  for (const iovec& piece : bytes.pieces) text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  return text;
}

// Of `count` extents, each one byte, none of which follows the one before it in the source.
Rope of_single_bytes(size_t count, const SourcePtr& alphabet) {
  std::vector<Extent> extents;
  for (size_t i = 0; i < count; ++i) extents.push_back({alphabet, i * 7 % 26, 1});
  return Rope(std::move(extents));
}

const SourcePtr alphabet = std::make_shared<MemorySource>("abcdefghijklmnopqrstuvwxyz");

TEST(Rope, EmptyHasNothing) {
  for (const Rope& rope : {Rope(), Rope(std::vector<Extent>()), Rope::of(""), Rope::of(guarded(""))}) {
    EXPECT_EQ(rope.size(), 0u);
    EXPECT_TRUE(rope.extents().empty());
    EXPECT_EQ(rope.text(), "");
    EXPECT_EQ(read(rope, 0, 0), "");
    EXPECT_TRUE(rope.borrow(0, 0).pieces.empty());
    EXPECT_NO_THROW(rope.require_current());
  }
}

TEST(Rope, IsItsExtentsInOrder) {
  const Rope rope({{alphabet, 3, 4}, {guarded("XYZ"), 1, 2}, {alphabet, 0, 1}});
  EXPECT_EQ(rope.size(), 7u);
  EXPECT_EQ(rope.text(), "defgYZa");
  EXPECT_EQ(rope.extents().size(), 3u);
}

TEST(Rope, ReadsFromAndToEveryPlace) {
  const Rope rope({{guarded("0123456789"), 2, 3}, {guarded("ab"), 0, 2}, {guarded("-"), 0, 1}, {guarded("xyz"), 1, 2}});
  const std::string whole = "234ab-yz";
  ASSERT_EQ(rope.text(), whole);
  for (size_t begin = 0; begin <= whole.size(); ++begin) {
    for (size_t length = 0; length <= whole.size() - begin; ++length) {
      EXPECT_EQ(read(rope, begin, length), whole.substr(begin, length)) << begin << " + " << length;
      EXPECT_EQ(joined(rope.borrow(begin, length)), whole.substr(begin, length)) << begin << " + " << length;
    }
  }
}

TEST(Rope, RandomReadsOfManyExtentsEqualTheWhole) {
  std::mt19937_64 random(1);
  std::vector<SourcePtr> sources;
  std::vector<std::string> texts;
  for (int i = 0; i < 5; ++i) {
    std::string text;
    for (int j = 0; j < 1000; ++j) text += static_cast<char>(random());
    texts.push_back(text);
    sources.push_back(guarded(text));
  }
  std::vector<Extent> extents;
  std::string whole;
  for (int i = 0; i < 2000; ++i) {
    const size_t source = random() % sources.size(), begin = random() % 900, length = random() % 60;
    extents.push_back({sources[source], begin, length});
    whole += texts[source].substr(begin, length);
  }
  const Rope rope(std::move(extents));
  ASSERT_EQ(rope.text(), whole);
  for (int i = 0; i < 2000; ++i) {
    const size_t begin = random() % whole.size(), length = random() % std::min<size_t>(whole.size() - begin, 20000);
    ASSERT_EQ(read(rope, begin, length), whole.substr(begin, length)) << begin << " + " << length;
    ASSERT_EQ(joined(rope.borrow(begin, length)), whole.substr(begin, length)) << begin << " + " << length;
  }
}

TEST(Rope, DropsExtentsOfLengthZero) {
  const Rope rope({{nullptr, 0, 0}, {alphabet, 26, 0}, {alphabet, 5, 2}, {alphabet, 3, 0}, {alphabet, 0, 1}});
  EXPECT_EQ(rope.extents().size(), 2u);
  EXPECT_EQ(rope.text(), "fga");
  EXPECT_EQ(rope.borrow(0, 3).pieces.size(), 2u);
}

TEST(Rope, RefusesWhatIsLargerThanAFile) {
  constexpr uint64_t part = uint64_t{1} << 62;
  const SourcePtr large = std::make_shared<FailingSource>(part, EIO);
  EXPECT_EQ(Rope({{large, 0, part}, {large, 1, part - 1}}).size(), uint64_t{INT64_MAX});
  EXPECT_ERROR(Rope({{large, 0, part}, {large, 0, part}}), EOVERFLOW, "");
  EXPECT_ERROR(Rope({{large, 0, part}, {large, 1, part - 1}, {alphabet, 0, 1}}), EOVERFLOW, "");
  const SourcePtr whole_space = std::make_shared<FailingSource>(UINT64_MAX, EIO);
  EXPECT_ERROR(Rope({{whole_space, 0, UINT64_MAX}}), EOVERFLOW, "");
  EXPECT_ERROR(Rope({{whole_space, 0, UINT64_MAX}, {alphabet, 0, 2}}), EOVERFLOW, "");
}

TEST(Rope, RefusesAnExtentOutsideOfItsSource) {
  EXPECT_ERROR(Rope({{alphabet, 0, 27}}), EOVERFLOW, "");
  EXPECT_ERROR(Rope({{alphabet, 27, 1}}), EOVERFLOW, "");
  EXPECT_ERROR(Rope({{alphabet, UINT64_MAX, 2}}), EOVERFLOW, "");
  EXPECT_ERROR(Rope({{alphabet, 0, 1}, {alphabet, 26, 1}}), EOVERFLOW, "");
}

TEST(Rope, LendsBytesWhereTheyAre) {
  const Rope rope({{alphabet, 2, 5}, {alphabet, 20, 6}});
  const BorrowedBytes bytes = rope.borrow(1, 9);
  ASSERT_EQ(bytes.pieces.size(), 2u);
  const Borrowed whole = alphabet->borrow(0, 26);
  EXPECT_EQ(bytes.pieces[0].iov_base, whole.data + 3);
  EXPECT_EQ(bytes.pieces[1].iov_base, whole.data + 20);
  EXPECT_TRUE(bytes.owners.empty());
}

TEST(Rope, CopiesWhenThereAreVeryManyPieces) {
  const Rope rope = of_single_bytes(3000, alphabet);
  const std::string whole = rope.text();
  for (const size_t length : {size_t{1}, size_t{200}, size_t{1000}, size_t{2990}}) {
    const BorrowedBytes bytes = rope.borrow(7, length);
    EXPECT_LE(bytes.pieces.size(), size_t{IOV_MAX});
    EXPECT_EQ(joined(bytes), whole.substr(7, length));
  }
  const BorrowedBytes copy = rope.borrow(7, 2990);
  EXPECT_EQ(copy.pieces.size(), 1u);
  EXPECT_EQ(copy.owners.size(), 1u);
}

TEST(Rope, JoinsExtentsThatFollowOneAnother) {
  const Rope rope({{alphabet, 3, 4}, {alphabet, 7, 2}, {alphabet, 8, 1}});
  EXPECT_EQ(rope.text(), "defghii");
  EXPECT_EQ(rope.extents().size(), 2u);
  EXPECT_EQ(rope.spliced(2, 3, rope.slice(2, 3)).extents().size(), 2u);
}

TEST(Rope, SlicesAndSplicesAnywhere) {
  const Rope rope = of_single_bytes(300, alphabet);
  const std::string whole = rope.text();
  const Rope piece({{guarded("12345"), 1, 3}});
  for (size_t begin = 0; begin <= whole.size(); begin += 7) {
    for (size_t length = 0; begin + length <= whole.size(); length += 41) {
      EXPECT_EQ(rope.slice(begin, length).text(), whole.substr(begin, length));
      EXPECT_EQ(rope.spliced(begin, length, piece).text(), std::string(whole).replace(begin, length, "234"));
      EXPECT_EQ(rope.spliced(begin, length, Rope()).text(), std::string(whole).erase(begin, length));
    }
  }
  EXPECT_EQ(rope.text(), whole);
  EXPECT_EQ(Rope().spliced(0, 0, piece).text(), "234");
  EXPECT_TRUE(piece.spliced(0, 3, Rope()).empty());
}

TEST(Rope, ManySplicesEqualTheSameOnAString) {
  std::mt19937 random(1);
  std::string expected;
  Rope rope;
  for (int step = 0; step < 3000; ++step) {
    const size_t begin = random() % (expected.size() + 1);
    const size_t length = std::min<size_t>(random() % 4, expected.size() - begin);
    const uint64_t from = random() % 20, n = random() % (step % 50 == 0 ? 26 - from : 7);
    const Rope piece({{alphabet, from, n}});
    expected.replace(begin, length, piece.text());
    rope = rope.spliced(begin, length, piece);
    ASSERT_EQ(rope.size(), expected.size());
    if (step % 100 == 0) {
      ASSERT_EQ(rope.text(), expected);
    }
  }
  EXPECT_EQ(rope.text(), expected);
  EXPECT_GT(rope.extents().size(), 1000u);
}

TEST(Rope, RefusesToGrowPastAFilesSize) {
  const auto huge = std::make_shared<testing::PatchworkSource>();
  huge->hole(1ULL << 62);
  const Rope half = Rope::of(SourcePtr(huge));
  EXPECT_ERROR(half.spliced(0, 0, half), EOVERFLOW, "do not fit");
  EXPECT_EQ(half.spliced(0, 1ULL << 62, half).size(), 1ULL << 62);
}

TEST(Rope, WhatItLendsOutlivesIt) {
  BorrowedBytes copied_by_the_source, copied_by_the_rope;
  {
    const SourcePtr source = guarded("0123456789");  // lends copies
    copied_by_the_source = Rope({{source, 1, 3}, {source, 7, 2}}).borrow(1, 4);
    copied_by_the_rope = of_single_bytes(300, alphabet).borrow(0, 300);
  }
  EXPECT_EQ(joined(copied_by_the_source), "2378");
  EXPECT_EQ(joined(copied_by_the_rope).substr(25, 3), "tah");
}

TEST(Rope, HoldsItsSources) {
  std::weak_ptr<const Source> source;
  {
    Rope copy;
    {
      auto memory = std::make_shared<MemorySource>("held");
      source = memory;
      const Rope rope = Rope::of(std::move(memory));
      copy = rope;
    }
    EXPECT_FALSE(source.expired());
    EXPECT_EQ(copy.text(), "held");
  }
  EXPECT_TRUE(source.expired());
}

TEST(Rope, PassesErrorsOn) {
  const SourcePtr failing = std::make_shared<FailingSource>(10, EIO);
  const Rope rope({{alphabet, 0, 5}, {failing, 0, 10}, {alphabet, 0, 5}});
  EXPECT_EQ(read(rope, 0, 5), "abcde");
  EXPECT_EQ(read(rope, 15, 5), "abcde");
  EXPECT_ERROR(read(rope, 4, 2), EIO, "on fire");
  EXPECT_ERROR(rope.borrow(14, 2), EIO, "on fire");
  EXPECT_ERROR(rope.text(), EIO, "on fire");
}

TEST(Rope, IsStaleWhenAnyOfItsSourcesIs) {
  const SourcePtr stale = std::make_shared<FailingSource>(10, ESTALE);
  EXPECT_NO_THROW(Rope({{alphabet, 0, 5}, {guarded("x"), 0, 1}}).require_current());
  EXPECT_ERROR(Rope({{stale, 0, 5}, {alphabet, 0, 5}}).require_current(), ESTALE, "on fire");
  EXPECT_ERROR(Rope({{alphabet, 0, 5}, {stale, 0, 5}, {alphabet, 0, 5}}).require_current(), ESTALE, "on fire");
  EXPECT_ERROR(Rope({{alphabet, 0, 5}, {alphabet, 0, 5}, {stale, 0, 5}}).require_current(), ESTALE, "on fire");
}

}  // namespace
}  // namespace onnxfs
