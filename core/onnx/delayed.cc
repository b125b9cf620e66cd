#include "core/onnx/delayed.h"

#include <cerrno>
#include <optional>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

// No file's path is longer; nothing longer is read.
constexpr uint64_t longest_path = 4096;

struct Attributes {
  std::optional<std::vector<int64_t>> shape;
  std::optional<int64_t> dtype, offset;
  std::optional<std::string> filename;
};

void read_attribute(wire::Window& window, ByteRange range, Attributes& attributes) {
  std::string name;
  std::vector<int64_t> ints;
  std::optional<int64_t> i;
  std::optional<ByteRange> s;
  Reader reader(window, range);
  for (Field field; reader.next(field);) {
    if (field.is(field::attribute::name, Type::bytes)) name = window.text(field.payload);
    if (field.number == field::attribute::ints) wire::read_integers(window, field, ints);
    if (field.is(field::attribute::i, Type::varint)) i = static_cast<int64_t>(field.value);
    if (field.is(field::attribute::s, Type::bytes)) s = field.payload;
  }
  if (name == "shape") attributes.shape = std::move(ints);
  if (name == "dtype") attributes.dtype = i;
  if (name == "offset") attributes.offset = i;
  if (name == "filename" && s) {
    if (s->size() > longest_path) fail(EINVAL, "its filename has {} bytes", s->size());
    attributes.filename = window.text(*s);
  }
}

void place(CatalogBuilder& builder, const Attributes& attributes, Tensor& tensor) {
  if (!attributes.shape) fail(EINVAL, "a DelayedInitializer without a shape");
  if (!attributes.dtype) fail(EINVAL, "a DelayedInitializer without a dtype");
  tensor.data_type = static_cast<int32_t>(*attributes.dtype);
  const DataType* type = tensor.data_type == *attributes.dtype ? tensor.type() : nullptr;
  if (type == nullptr) fail(EINVAL, "data type {} is unknown, and with it the size", *attributes.dtype);
  if (type->number == string_type) fail(EINVAL, "a DelayedInitializer cannot hold strings");
  const auto elements = element_count(*attributes.shape);
  const auto size = elements ? payload_size(*type, *elements) : std::nullopt;
  tensor.elements_known = elements.has_value();
  tensor.elements = elements.value_or(0);
  if (!size) fail(EINVAL, "{} is no shape of a file", describe(tensor.data_type, *attributes.shape));
  tensor.nbytes = *size;
  if (*elements == 0) return;
  if (!attributes.filename || attributes.filename->empty()) fail(EINVAL, "a DelayedInitializer without a filename");
  if (!attributes.offset || *attributes.offset < 0) fail(EINVAL, "a DelayedInitializer without an offset from 0 on");
  const auto offset = static_cast<uint64_t>(*attributes.offset);
  tensor.data_file = builder.data_files().open(*attributes.filename);
  const DataFile& file = builder.data_files().files()[tensor.data_file];
  if (!file.source) throw Error(EINVAL, file.refusal);
  if (!fits(offset, *size, file.source->size())) {
    fail(EINVAL, "its data at {} + {} bytes ends past the {} bytes of \"{}\"", offset, *size, file.source->size(),
         *attributes.filename);
  }
  tensor.data = {offset, offset + *size};
  tensor.in_one_piece = true;
}

}  // namespace

DelayedInitializer read_delayed(CatalogBuilder& builder, ByteRange node, const std::vector<ByteRange>& ranges) {
  DelayedInitializer result;
  result.tensor.kind = Kind::delayed;
  result.tensor.storage = Storage::delayed;
  result.tensor.message = node;
  Attributes attributes;
  try {
    for (const ByteRange range : ranges) read_attribute(builder.window(), range, attributes);
    place(builder, attributes, result.tensor);
  } catch (const Error& error) {
    if (error.code() == EBADMSG || error.code() == EIO || error.code() == ESTALE) throw;
    result.remarks.push_back({error.what(), node.begin, true});
  }
  if (attributes.shape) result.dims = std::move(*attributes.shape);
  return result;
}

}  // namespace onnxfs
