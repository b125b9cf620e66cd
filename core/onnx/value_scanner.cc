#include "core/onnx/value_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

// Protobuf's parsers allow a hundred nested messages.
constexpr size_t deepest = 100;

// A collection that is to be scanned into a section. An optional's pieces are one message; a sequence has one piece.
struct Collection {
  enum class Kind : uint8_t { sequence, optional, map };
  Kind kind;
  uint32_t section;
  std::vector<ByteRange> pieces;
  size_t depth = 0;
};

class ValueScanner {
 public:
  explicit ValueScanner(CatalogBuilder& builder) : builder_(builder) {}

  void scan(Collection outermost) {
    waiting_.push_back(std::move(outermost));
    while (!waiting_.empty()) {
      const Collection collection = std::move(waiting_.back());
      waiting_.pop_back();
      const size_t before = waiting_.size();
      if (collection.kind == Collection::Kind::map) scan_map(collection);
      else scan_elements(collection);
      // They were pushed in the order of the file; the first is to be the next.
      std::reverse(waiting_.begin() + static_cast<ptrdiff_t>(before), waiting_.end());
    }
  }

 private:
  // Of an optional there is one element, of which each further occurrence is a further piece.
  // Returns how many there are.
  size_t scan_elements(const Collection& collection) {
    const bool is_optional = collection.kind == Collection::Kind::optional;
    std::vector<std::pair<uint32_t, std::vector<ByteRange>>> elements;  // field number, pieces
    for (const ByteRange piece : collection.pieces) {
      Reader reader(builder_.window(), piece);
      for (Field field; reader.next(field);) {
        if (field.type != Type::bytes || field.number < field::sequence::tensor ||
            field.number > field::sequence::optional) {
          continue;
        }
        if (is_optional && !elements.empty() && elements.back().first == field.number) {
          elements.back().second.push_back(field.payload);
        } else {
          elements.push_back({field.number, {field.payload}});
        }
      }
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      add_element(collection, elements[i].first, fmt::to_string(i), std::move(elements[i].second));
    }
    return elements.size();
  }

  void add_element(const Collection& around, uint32_t field_number, const std::string& name,
                   std::vector<ByteRange> pieces) {
    switch (field_number) {
      case field::sequence::tensor: return builder_.add_tensor(around.section, name, Kind::value, pieces);
      case field::sequence::sparse_tensor: return builder_.add_sparse(around.section, name, pieces);
      default: break;
    }
    if (around.depth >= deepest) {
      return builder_.remark_on_file("values are nested deeper than any reader goes; the innermost are not shown",
                                     pieces.front().begin);
    }
    const uint32_t section = builder_.add_section(around.section, Section::Kind::collection, name);
    const Collection::Kind kind = field_number == field::sequence::sequence ? Collection::Kind::sequence
                                  : field_number == field::sequence::map    ? Collection::Kind::map
                                                                            : Collection::Kind::optional;
    waiting_.push_back({kind, section, std::move(pieces), around.depth + 1});
  }

  void scan_map(const Collection& map) {
    int32_t key_type = undefined_type;
    uint64_t numbers = 0, strings = 0, string_bytes = 0;
    std::vector<ByteRange> values;
    for (const ByteRange piece : map.pieces) {
      Reader reader(builder_.window(), piece);
      for (Field field; reader.next(field);) {
        if (field.is(field::map::key_type, Type::varint)) key_type = static_cast<int32_t>(field.value);
        if (field.is(field::map::keys, Type::varint)) ++numbers;
        if (field.is(field::map::keys, Type::bytes)) {
          numbers += Reader(builder_.window(), field.payload).skip_varints(std::numeric_limits<uint64_t>::max());
        }
        if (field.is(field::map::string_keys, Type::bytes)) {
          ++strings;
          string_bytes += field.payload.size();
        }
        if (field.is(field::map::values, Type::bytes)) values.push_back(field.payload);
      }
    }
    const bool are_strings = key_type == string_type;
    const uint64_t count = are_strings ? strings : numbers;
    add_keys(map, key_type, count, string_bytes);
    // The values are one SequenceProto, whose elements stand beside the keys.
    const uint64_t elements = scan_elements({Collection::Kind::sequence, map.section, std::move(values), map.depth});
    if (elements != count) {
      builder_.remark_on_file(fmt::format("a map has {} keys and {} values", count, elements),
                              map.pieces.front().begin);
    }
  }

  void add_keys(const Collection& map, int32_t key_type, uint64_t count, uint64_t string_bytes) {
    Tensor keys;
    keys.kind = Kind::value;
    keys.storage = Storage::keys;
    keys.data_type = key_type;
    keys.message = map.pieces.front();
    keys.elements = count;
    keys.elements_known = true;
    std::vector<Remark> remarks;
    if (!is_key_type(key_type)) {
      remarks.push_back({fmt::format("data type {} is none of a map's keys", key_type), keys.message.begin, true});
    } else {
      keys.nbytes =
          key_type == string_type ? string_length_prefix * count + string_bytes : *payload_size(*keys.type(), count);
    }
    const auto length = static_cast<int64_t>(count);
    builder_.add_plain(map.section, "keys", keys, {&length, 1}, std::move(remarks), map.pieces);
  }

  CatalogBuilder& builder_;
  std::vector<Collection> waiting_;
};

}  // namespace

void scan_values(CatalogBuilder& builder, Root root) {
  const ByteRange all{0, builder.window().size()};
  const uint32_t values = builder.add_section(0, Section::Kind::collection, "values");
  switch (root) {
    case Root::model: break;
    case Root::tensor: return builder.add_tensor(values, std::nullopt, Kind::value, {&all, 1});
    case Root::sparse_tensor: return builder.add_sparse(values, std::nullopt, {&all, 1});
    case Root::sequence:
    case Root::sequence_or_optional: return ValueScanner(builder).scan({Collection::Kind::sequence, values, {all}});
    case Root::optional: return ValueScanner(builder).scan({Collection::Kind::optional, values, {all}});
    case Root::map: return ValueScanner(builder).scan({Collection::Kind::map, values, {all}});
  }
}

bool is_key_type(int32_t data_type) {
  switch (data_type) {
    case 2:   // UINT8
    case 3:   // INT8
    case 4:   // UINT16
    case 5:   // INT16
    case 6:   // INT32
    case 7:   // INT64
    case 8:   // STRING
    case 12:  // UINT32
    case 13:  // UINT64
      return true;
    default: return false;
  }
}

}  // namespace onnxfs
