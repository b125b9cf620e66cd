// Typed fields of a TensorProto with random content, and the payload that the format says they stand for.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/onnx/tensor.h"
#include "tests/unit/message.h"

namespace onnxfs::testing {

// How entries are written: in one packed run, each by itself, or in runs and alone with other fields between them.
enum class Layout { packed, unpacked, mixed };

inline constexpr Layout all_layouts[] = {Layout::packed, Layout::unpacked, Layout::mixed};

struct TypedField {
  Message message;
  std::string payload;
  Tensor tensor;
};

// What typed entries of a data type are and become, written down a second time.
struct TypedRule {
  int32_t data_type;
  uint32_t field;            // number in TensorProto
  size_t width;              // bytes of an entry in the payload; 0 for 6 bits
  uint64_t per_entry = 1;    // elements
  uint64_t per_element = 1;  // entries
};

inline const std::vector<TypedRule>& typed_rules() {
  static const std::vector<TypedRule> rules{
      {1, 4, 4},     {2, 5, 1},  {3, 5, 1},     {4, 5, 2},     {5, 5, 2},   {6, 5, 4},        {7, 7, 8},
      {9, 5, 1},     {10, 5, 2}, {11, 10, 8},   {12, 11, 4},   {13, 11, 8}, {14, 4, 4, 1, 2}, {15, 10, 8, 1, 2},
      {16, 5, 2},    {17, 5, 1}, {18, 5, 1},    {19, 5, 1},    {20, 5, 1},  {21, 5, 1, 2},    {22, 5, 1, 2},
      {23, 5, 1, 2}, {24, 5, 1}, {25, 5, 1, 4}, {26, 5, 1, 4}, {27, 5, 0},  {28, 5, 0}};
  return rules;
}

class TypedFieldWriter {
 public:
  TypedFieldWriter(const TypedRule& rule, uint64_t seed) : rule_(rule), random_(seed) {}

  // `surplus` more entries than so many elements need (or fewer, when negative), with the tensor as if it were right.
  TypedField write(uint64_t elements, Layout layout, int64_t surplus = 0) {
    const uint64_t entries = (elements + rule_.per_entry - 1) / rule_.per_entry * rule_.per_element;
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < entries + static_cast<uint64_t>(surplus); ++i) values.push_back(random_value());
    TypedField result;
    result.payload =
        payload({values.begin(), values.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(entries, values.size()))});
    result.message.varint(1, elements).varint(2, static_cast<uint64_t>(rule_.data_type));
    write_entries(result.message, values, layout);
    result.tensor.message = {0, result.message.size()};
    result.tensor.data_type = rule_.data_type;
    result.tensor.elements = elements;
    result.tensor.elements_known = true;
    result.tensor.nbytes = result.payload.size();
    result.tensor.storage = Storage::typed;
    return result;
  }

 private:
  // Of any size, with bits set where the type has none: they are dropped.
  uint64_t random_value() {
    switch (random_() % 6) {
      case 0: return 0;
      case 1: return random_() << 32;  // of which a 32-bit type has nothing
      default: return random_() >> (random_() % 64);
    }
  }

  std::string payload(const std::vector<uint64_t>& values) const {
    std::string bytes;
    if (rule_.width == 0) {
      std::vector<bool> bits;
      for (const uint64_t value : values) {
        for (int bit = 0; bit < 6; ++bit) bits.push_back((value >> bit & 1) != 0);
      }
      bytes.assign((bits.size() + 7) / 8, '\0');
      for (size_t i = 0; i < bits.size(); ++i) {
        if (bits[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << i % 8);
      }
      return bytes;
    }
    constexpr int32_t boolean = 9;
    for (const uint64_t value : values) {
      bytes +=
          fixed_bytes(rule_.data_type == boolean ? uint64_t{static_cast<uint32_t>(value) != 0} : value, rule_.width);
    }
    return bytes;
  }

  bool is_fixed() const { return rule_.field == 4 || rule_.field == 10; }

  std::string entry_bytes(uint64_t value) { return is_fixed() ? fixed_bytes(value, rule_.width) : varint_bytes(value); }

  void write_alone(Message& message, uint64_t value) {
    if (rule_.field == 4) message.fixed32(4, static_cast<uint32_t>(value));
    else if (rule_.field == 10) message.fixed64(10, value);
    else message.varint(rule_.field, value);
  }

  void write_run(Message& message, const std::vector<uint64_t>& values, size_t from, size_t count) {
    std::string run;
    for (size_t i = from; i < from + count; ++i) run += entry_bytes(values[i]);
    message.bytes(rule_.field, run);
  }

  void write_entries(Message& message, const std::vector<uint64_t>& values, Layout layout) {
    if (layout == Layout::packed) return write_run(message, values, 0, values.size());
    for (size_t i = 0; i < values.size();) {
      if (layout == Layout::unpacked || random_() % 2 == 0) {
        write_alone(message, values[i++]);
        continue;
      }
      const size_t longest = random_() % 10 == 0 ? 5000 : 5;
      const size_t count = std::min<size_t>(random_() % longest, values.size() - i);
      write_run(message, values, i, count);
      i += count;
      // Neither the other fields nor this one by another wire type are entries.
      if (random_() % 4 == 0) message.bytes(8, "a name").varint(1000, 7).group(17, Message().varint(5, 1));
      if (random_() % 8 == 0) is_fixed() ? message.varint(rule_.field, 9) : message.fixed32(rule_.field, 9);
    }
  }

  TypedRule rule_;
  std::mt19937_64 random_;
};

}  // namespace onnxfs::testing
