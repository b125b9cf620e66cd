#include "core/sidecar/annotation.h"

#include "core/sidecar/little_endian.h"

namespace onnxfs {

namespace {

constexpr uint32_t has_dims = 1, has_doc_string = 2;
constexpr size_t fixed_size = 8;

}  // namespace

std::string Annotation::encode() const {
  const size_t count = dims ? dims->size() : 0;
  std::string text(fixed_size + 8 * count, '\0');
  auto* to = reinterpret_cast<std::byte*>(text.data());
  store_little_endian((dims ? has_dims : 0) | (doc_string ? has_doc_string : 0), to);
  store_little_endian(static_cast<uint32_t>(count), to + 4);
  for (size_t i = 0; i < count; ++i) store_little_endian((*dims)[i], to + fixed_size + 8 * i);
  if (doc_string) text += *doc_string;
  return text;
}

std::optional<Annotation> Annotation::decode(std::span<const std::byte> bytes) {
  if (bytes.size() < fixed_size) return std::nullopt;
  const auto flags = load_little_endian<uint32_t>(bytes.data());
  const auto count = load_little_endian<uint32_t>(bytes.data() + 4);
  bytes = bytes.subspan(fixed_size);
  if ((flags & ~(has_dims | has_doc_string)) != 0 || count > bytes.size() / 8) return std::nullopt;
  if (((flags & has_dims) == 0 && count != 0) || ((flags & has_doc_string) == 0 && bytes.size() != 8ul * count)) {
    return std::nullopt;
  }
  Annotation annotation;
  if ((flags & has_dims) != 0) {
    std::vector<int64_t>& dims = annotation.dims.emplace(count);
    for (size_t i = 0; i < count; ++i) dims[i] = load_little_endian<int64_t>(bytes.data() + 8 * i);
  }
  if ((flags & has_doc_string) != 0) {
    const auto text = bytes.subspan(8ul * count);
    annotation.doc_string.emplace(reinterpret_cast<const char*>(text.data()), text.size());
  }
  return annotation;
}

}  // namespace onnxfs
