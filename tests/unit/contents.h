// Tensors with their payloads, as views get them, and looks at what views make of them.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/views/tensor_content.h"
#include "tests/unit/models.h"
#include "tests/unit/sources.h"

namespace onnxfs::testing {

inline TensorContent content_of(int32_t data_type, const Dims& dims, Rope payload) {
  TensorContent content;
  content.tensor.name = "w";
  content.tensor.data_type = data_type;
  content.tensor.elements = element_count(dims).value_or(0);
  content.tensor.elements_known = true;
  content.tensor.nbytes = payload.size();
  content.dims = dims;
  content.payload = std::move(payload);
  return content;
}

inline TensorContent content_of(int32_t data_type, const Dims& dims, std::string payload) {
  return content_of(data_type, dims, Rope::of(guarded(std::move(payload))));
}

// Of random bytes, with the bits zero that a packed payload leaves over.
inline std::string random_payload(const DataType& type, uint64_t elements, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string payload(*payload_size(type, elements), '\0');
  for (char& c : payload) c = static_cast<char>(random());
  const unsigned used = static_cast<unsigned>(elements % 8 * type.bits % 8);
  if (used != 0) payload.back() = static_cast<char>(static_cast<uint8_t>(payload.back()) & ((1u << used) - 1));
  return payload;
}

inline TensorContent random_content(const DataType& type, uint64_t elements, uint64_t seed) {
  return content_of(type.number, {static_cast<int64_t>(elements)}, random_payload(type, elements, seed));
}

// A payload of its right size that fails the test when it is read.
inline TensorContent unreadable_content(const DataType& type, uint64_t elements) {
  const uint64_t size = *payload_size(type, elements);
  return content_of(type.number, {static_cast<int64_t>(elements)},
                    Rope({{std::make_shared<FailingSource>(size, EIO), 0, size}}));
}

inline std::string strings_payload(const std::vector<std::string>& strings) {
  std::string payload;
  for (const std::string& text : strings) payload += fixed_bytes(text.size(), 4) + text;
  return payload;
}

inline TensorContent strings_content(const std::vector<std::string>& strings) {
  return content_of(type::string, {static_cast<int64_t>(strings.size())}, strings_payload(strings));
}

inline std::string read_text(const Rope& rope, uint64_t offset, size_t length) {
  std::string text(length, '?');
  rope.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

// That reads of any part of a rope give what the whole of it has there.
inline void expect_reads_alike(const Rope& rope, const std::string& whole) {
  ASSERT_EQ(rope.size(), whole.size());
  ASSERT_TRUE(rope.text() == whole);
  std::mt19937_64 random(whole.size());
  for (int i = 0; i < 80 && !whole.empty(); ++i) {
    const size_t at = random() % whole.size();
    const size_t most = std::min<size_t>(whole.size() - at, i % 2 == 0 ? 40 : 200'000);
    const size_t length = random() % (most + 1);
    ASSERT_TRUE(read_text(rope, at, length) == whole.substr(at, length)) << at << " + " << length;
  }
}

// The same of every part: for small ones.
inline void expect_every_read_alike(const Rope& rope, const std::string& whole) {
  ASSERT_EQ(rope.size(), whole.size());
  for (size_t at = 0; at <= whole.size(); ++at) {
    for (size_t length = 0; length <= whole.size() - at; ++length) {
      ASSERT_EQ(read_text(rope, at, length), whole.substr(at, length)) << at << " + " << length;
    }
  }
}

}  // namespace onnxfs::testing
