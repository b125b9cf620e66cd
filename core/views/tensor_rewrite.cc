#include "core/views/tensor_rewrite.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/onnx/tensor_fields.h"
#include "core/onnx/typed_layout.h"
#include "core/views/list_encoding.h"
#include "core/views/padding.h"
#include "core/wire/encoder.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

constexpr uint64_t is_external = 1;  // TensorProto.DataLocation

bool is_tensor_message(const Tensor& tensor) {
  return tensor.storage != Storage::attribute && tensor.storage != Storage::keys && tensor.storage != Storage::delayed;
}

Rope encode_raw_data(const Rope& payload) {
  std::string header;
  wire::append_header(header, field::tensor::raw_data, payload.size());
  return payload.spliced(0, 0, Rope::of(std::move(header)));
}

Rope encode_text(uint32_t number, std::string_view text) {
  std::string bytes;
  wire::append_header(bytes, number, text.size());
  return Rope::of(bytes.append(text));
}

std::string encode_entry(std::string_view key, std::string_view value) {
  std::string entry, bytes;
  wire::append_header(entry, field::entry::key, key.size());
  entry += key;
  wire::append_header(entry, field::entry::value, value.size());
  entry += value;
  wire::append_header(bytes, field::tensor::external_data, entry.size());
  return bytes += entry;
}

// Whether a field of a TensorProto holds data, or says where they are.
bool is_about_data(const Field& old) {
  using namespace field::tensor;
  switch (old.number) {
    case raw_data:
    case string_data:
    case external_data: return old.type == Type::bytes;
    case float_data: return old.type == Type::bytes || old.type == Type::fixed32;
    case double_data: return old.type == Type::bytes || old.type == Type::fixed64;
    case int32_data:
    case int64_data:
    case uint64_data: return old.type == Type::bytes || old.type == Type::varint;
    // Any other number is an unknown field to protobuf.
    case data_location: return old.type == Type::varint && static_cast<int32_t>(old.value) >> 1 == 0;
    default: return false;
  }
}

}  // namespace

template <typename IsOld>
void TensorRewriter::replace_fields(const Tensor& tensor, IsOld is_old, Rope content, Otherwise otherwise) {
  const std::span<const ByteRange> pieces = model_.catalog().pieces(tensor);
  bool placed = false;
  for (const ByteRange piece : pieces) {
    bool goes_on = false;  // whether the field before makes way too
    Reader reader(window_, piece);
    for (Field field; reader.next(field);) {
      const bool old = is_old(field);
      if (old && goes_on) {
        splices_.back().patch.range.end = reader.offset();
      } else if (old) {
        splices_.push_back({piece, {{field.begin, reader.offset()}, placed ? Rope() : content}});
        placed = true;
      }
      goes_on = old;
    }
  }
  if (placed || content.empty()) return;
  const ByteRange piece = otherwise == Otherwise::first ? pieces.front() : pieces.back();
  const uint64_t at = otherwise == Otherwise::first ? piece.begin : piece.end;
  splices_.push_back({piece, {{at, at}, std::move(content)}});
}

void TensorRewriter::set_payload(const Tensor& tensor, const Rope& payload) {
  const EntryField field = typed_layout(tensor, model_.catalog().pieces(tensor)).field;
  const bool becomes_raw = tensor.storage == Storage::typed && tensor.data_type != string_type;
  Rope content =
      becomes_raw ? encode_raw_data(with_clear_padding(tensor, payload)) : encode_list(tensor, field, payload);
  const auto is_old = [field](const Field& old) {
    return old.number == field.number && (old.type == field.unpacked || old.type == Type::bytes);
  };
  replace_fields(tensor, is_old, std::move(content), Otherwise::last);
}

void TensorRewriter::set_dims(const Tensor& tensor, const std::vector<int64_t>& dims) {
  if (std::ranges::equal(dims, tensor.dims)) return;
  require_message(tensor, "shape");
  if (element_count(dims) != tensor.elements) {
    fail(EINVAL, "tensor \"{}\" has {} elements, which do not make the shape [{}]", tensor.name, tensor.elements,
         fmt::join(dims, ", "));
  }
  std::string bytes;
  for (const int64_t dim : dims) {
    wire::append_tag(bytes, field::tensor::dims, Type::varint);
    wire::append_varint(bytes, static_cast<uint64_t>(dim));
  }
  const auto is_old = [](const Field& old) {
    return old.number == field::tensor::dims && (old.type == Type::varint || old.type == Type::bytes);
  };
  replace_fields(tensor, is_old, Rope::of(std::move(bytes)), Otherwise::first);
}

void TensorRewriter::set_doc_string(const Tensor& tensor, const std::string& text) {
  std::string now;
  if (tensor.annotated) {
    TensorFields fields;
    for (const ByteRange piece : model_.catalog().pieces(tensor)) fields.scan(window_, piece);
    if (fields.doc_string) now = window_.text(*fields.doc_string);
  }
  if (text == now) return;
  require_message(tensor, "documentation");
  const auto is_old = [](const Field& old) { return old.is(field::tensor::doc_string, Type::bytes); };
  replace_fields(tensor, is_old, text.empty() ? Rope() : encode_text(field::tensor::doc_string, text), Otherwise::last);
}

void TensorRewriter::set_location(const Tensor& tensor, std::string_view location) {
  Rope entry = Rope::of(encode_entry("location", location));
  replace_fields(
      tensor, [this](const Field& old) { return names_file(old); }, std::move(entry), Otherwise::last);
}

void TensorRewriter::set_external(const Tensor& tensor, std::string_view location, uint64_t offset, uint64_t length) {
  std::string bytes = encode_entry("location", location);
  bytes += encode_entry("offset", fmt::to_string(offset));
  bytes += encode_entry("length", fmt::to_string(length));
  wire::append_tag(bytes, field::tensor::data_location, Type::varint);
  wire::append_varint(bytes, is_external);
  replace_fields(tensor, is_about_data, Rope::of(std::move(bytes)), Otherwise::last);
}

void TensorRewriter::set_raw_data(const Tensor& tensor, const Rope& payload) {
  replace_fields(tensor, is_about_data, payload.empty() ? Rope() : encode_raw_data(payload), Otherwise::last);
}

bool TensorRewriter::names_file(const Field& entry) {
  if (!entry.is(field::tensor::external_data, Type::bytes)) return false;
  constexpr uint64_t longest_key = 64;
  ByteRange key;
  Reader reader(window_, entry.payload);
  for (Field part; reader.next(part);) {
    if (part.is(field::entry::key, Type::bytes)) key = part.payload;
  }
  if (key.size() > longest_key) return false;
  const std::string text = window_.text(key);
  return text == "location" || text == "checksum" || text == "basepath" || text.starts_with("prepacked_");
}

void TensorRewriter::require_message(const Tensor& tensor, std::string_view what) const {
  if (is_tensor_message(tensor)) return;
  fail(EINVAL, "\"{}\" is {} and no TensorProto; it has no {} of its own", tensor.leaf,
       tensor.storage == Storage::keys ? "the keys of a map" : "a value of an attribute", what);
}

}  // namespace onnxfs
