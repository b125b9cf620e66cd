#include "core/views/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/views/fortran_order.h"
#include "core/views/npy_header.h"
#include "core/views/sub_byte.h"

namespace onnxfs {

namespace {

std::string_view descr_of(const Tensor& tensor) {
  const DataType* type = tensor.type();
  if (type == nullptr) return "|u1";
  if (is_sub_byte(*type)) return is_signed_sub_byte(*type) ? "|i1" : "|u1";
  return type->numpy;
}

bool is_packed(const Tensor& tensor) { return tensor.type() != nullptr && is_sub_byte(*tensor.type()); }

// Of an element in the file.
size_t width_of(const Tensor& tensor) {
  const DataType* type = tensor.type();
  return type == nullptr || type->bits < 8 ? 1 : type->bits / 8;
}

std::string header_of(const TensorContent& content) {
  return npy_header(descr_of(content.tensor), stored_dims(content.tensor, content.dims));
}

// Whether a file's type is the tensor's. ml_dtypes saves what numpy lacks as bytes without a meaning.
bool is_descr_of(std::string_view descr, const Tensor& tensor) {
  const std::string_view ours = descr_of(tensor);
  if (descr == ours) return true;
  // A byte has no order, and a stranger may yet have written one.
  if (width_of(tensor) == 1 && descr.size() == ours.size() && descr[0] == '<' && descr.substr(1) == ours.substr(1)) {
    return true;
  }
  const DataType* type = tensor.type();
  if (type == nullptr) return false;
  const bool lacking = is_sub_byte(*type) || (type->name.find("float") != std::string_view::npos && ours[1] == 'u');
  const bool has_order = descr.starts_with('<') || descr.starts_with('|');
  return lacking && has_order && descr.substr(1) == fmt::format("V{}", width_of(tensor));
}

Rope parse(const Rope& file, const Tensor& tensor) {
  const NpyHeader header = read_npy_header(file);
  if (!is_descr_of(header.descr, tensor)) {
    const bool swapped = header.descr.starts_with('>');
    fail(EINVAL, "its type is '{}'{}; '{}' is needed", printable(header.descr), swapped ? ", big-endian" : "",
         descr_of(tensor));
  }
  uint64_t elements = std::ranges::find(header.shape, 0u) == header.shape.end() ? 1 : 0;
  for (const uint64_t dim : header.shape) {
    const auto next = checked_multiply(elements, dim);
    if (!next) fail(EINVAL, "its shape has more elements than any file");
    elements = *next;
  }
  const uint64_t needed = stored_elements(tensor);
  if (elements != needed) fail(EINVAL, "it has {} elements; {} are needed", elements, needed);
  const uint64_t size = file.size() - header.data_begin;
  const auto expected = checked_multiply(elements, width_of(tensor));
  if (!expected || size != *expected)
    fail(EINVAL, "{} bytes follow its header, not those of {} elements", size, elements);

  Rope data = file.slice(header.data_begin, size);
  if (is_packed(tensor)) require_range(data, *tensor.type());
  const auto long_dims = std::ranges::count_if(header.shape, [](uint64_t dim) { return dim > 1; });
  if (header.fortran_order && long_dims > 1 && elements != 0) {
    data = Rope::of(row_major(std::move(data), width_of(tensor), header.shape));
  }
  if (is_packed(tensor)) data = Rope::of(packed(std::move(data), *tensor.type()));
  return data;
}

}  // namespace

bool has_npy(const Tensor& tensor) { return tensor.data_type != string_type; }

uint64_t npy_size(const TensorContent& content) {
  constexpr uint64_t largest = std::numeric_limits<int64_t>::max();
  const uint64_t header = header_of(content).size();
  const auto data = checked_multiply(stored_elements(content.tensor), width_of(content.tensor));
  if (!data || *data > largest - header) {
    fail(EOVERFLOW, "the .npy of tensor {} is larger than any file", printable(content.tensor.name));
  }
  return header + *data;
}

Rope npy(const TensorContent& content) {
  const Tensor& tensor = content.tensor;
  Rope data = content.payload;
  if (is_packed(tensor)) data = Rope::of(unpacked(std::move(data), *tensor.type(), tensor.elements));
  const Rope header = Rope::of(header_of(content));
  return header.spliced(header.size(), 0, data);
}

Rope parse_npy(const Rope& file, const Tensor& tensor) {
  try {
    return parse(file, tensor);
  } catch (const Error& error) {
    if (error.code() != EINVAL) throw;
    fail(EINVAL, "no .npy for tensor {}: {}", printable(tensor.name), error.what());
  }
}

}  // namespace onnxfs
