#include "core/onnx/catalog_builder.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

using wire::Field;
using wire::Reader;
using wire::Type;

CatalogBuilder::CatalogBuilder(SourcePtr file, DataFiles files) : window_(std::move(file)), files_(std::move(files)) {
  catalog_.sections_.emplace_back();
}

uint32_t CatalogBuilder::add_section(uint32_t parent, Section::Kind kind, std::string_view name, size_t domain_length) {
  if (catalog_.sections_.size() == Tensor::no_index) fail(EOVERFLOW, "has more parts than can be numbered");
  catalog_.sections_.push_back({parent, kind, static_cast<uint32_t>(domain_length), keep(name)});
  return static_cast<uint32_t>(catalog_.sections_.size() - 1);
}

uint32_t CatalogBuilder::label(std::optional<uint32_t>& known, uint32_t parent, std::string_view name) {
  if (!known) known = add_section(parent, Section::Kind::label, name);
  return *known;
}

void CatalogBuilder::add_tensor(uint32_t section, std::optional<std::string_view> leaf, Kind kind,
                                std::span<const ByteRange> pieces) {
  fields_.clear();
  for (const ByteRange piece : pieces) fields_.scan(window_, piece);
  const std::string_view name = keep(fields_.name);
  remarks_.clear();
  const ByteRange message = pieces.empty() ? ByteRange() : pieces.front();
  Tensor& tensor = append(settle(fields_, message, window_, files_, remarks_));
  tensor.kind = kind;
  tensor.section = section;
  tensor.name = name;
  tensor.leaf = leaf ? keep(*leaf) : name;
  tensor.dims = keep(fields_.dims);
  scatter(tensor, pieces);
  const auto index = static_cast<uint32_t>(catalog_.tensors_.size() - 1);
  for (Remark& remark : remarks_) {
    if (remark.broken) tensor.problem = static_cast<uint32_t>(catalog_.findings_.size());
    catalog_.findings_.push_back({index, std::move(remark.text), remark.offset});
  }
}

void CatalogBuilder::add_sparse(uint32_t section, std::optional<std::string_view> name,
                                std::span<const ByteRange> pieces) {
  std::vector<ByteRange> values, indices;
  std::vector<int64_t> dims;
  for (const ByteRange piece : pieces) {
    Reader reader(window_, piece);
    for (Field field; reader.next(field);) {
      if (field.is(field::sparse_tensor::values, Type::bytes)) values.push_back(field.payload);
      if (field.is(field::sparse_tensor::indices, Type::bytes)) indices.push_back(field.payload);
      if (field.number == field::sparse_tensor::dims) wire::read_integers(window_, field, dims);
    }
  }
  // A part that is missing is shown, as one without data.
  const ByteRange nothing{pieces.front().begin, pieces.front().begin};
  if (values.empty()) values.push_back(nothing);
  if (indices.empty()) indices.push_back(nothing);
  std::string own_name;
  if (!name) {
    fields_.clear();
    for (const ByteRange piece : values) fields_.scan(window_, piece);
    own_name = window_.text(fields_.name);
  }
  const uint32_t place = add_section(section, Section::Kind::thing, name.value_or(own_name));
  const auto first = static_cast<uint32_t>(catalog_.tensors_.size());
  catalog_.dense_shapes_.push_back({first, keep(std::span<const int64_t>(dims))});
  add_tensor(place, "values", Kind::sparse_values, values);
  add_tensor(place, "indices", Kind::sparse_indices, indices);
}

void CatalogBuilder::add_plain(uint32_t section, std::string_view leaf, Tensor tensor, std::span<const int64_t> dims,
                               std::vector<Remark> remarks, std::span<const ByteRange> pieces) {
  tensor.section = section;
  tensor.leaf = keep(leaf);
  tensor.dims = keep(dims);
  Tensor& added = append(tensor);
  scatter(added, pieces);
  for (Remark& remark : remarks) {
    if (remark.broken) added.problem = static_cast<uint32_t>(catalog_.findings_.size());
    this->remark(std::move(remark.text), remark.offset);
  }
}

void CatalogBuilder::remark(std::string text, uint64_t offset) {
  catalog_.findings_.push_back({static_cast<uint32_t>(catalog_.tensors_.size() - 1), std::move(text), offset});
}

void CatalogBuilder::remark_on_file(std::string text, uint64_t offset) {
  catalog_.findings_.push_back({Tensor::no_index, std::move(text), offset});
}

Catalog CatalogBuilder::finish() && {
  remark_on_duplicates();
  catalog_.data_files_ = std::move(files_).take();
  return std::move(catalog_);
}

std::string_view CatalogBuilder::keep(std::string_view text) {
  if (text.empty()) return {};
  auto* kept = static_cast<char*>(catalog_.arena_->allocate(text.size(), alignof(char)));
  std::ranges::copy(text, kept);
  return {kept, text.size()};
}

std::string_view CatalogBuilder::keep(ByteRange range) {
  if (range.empty()) return {};
  auto* kept = static_cast<char*>(catalog_.arena_->allocate(range.size(), alignof(char)));
  const std::span<char> text(kept, range.size());
  window_.copy(range.begin, std::as_writable_bytes(text));
  return {kept, text.size()};
}

std::span<const int64_t> CatalogBuilder::keep(std::span<const int64_t> dims) {
  if (dims.empty()) return {};
  auto* kept = static_cast<int64_t*>(catalog_.arena_->allocate(dims.size() * sizeof(int64_t), alignof(int64_t)));
  std::ranges::copy(dims, kept);
  return {kept, dims.size()};
}

Tensor& CatalogBuilder::append(Tensor tensor) {
  if (catalog_.tensors_.size() == Tensor::no_index) fail(EOVERFLOW, "has more tensors than can be numbered");
  return catalog_.tensors_.emplace_back(tensor);
}

void CatalogBuilder::scatter(Tensor& tensor, std::span<const ByteRange> pieces) {
  if (pieces.size() < 2) return;
  tensor.scattered = static_cast<uint32_t>(catalog_.scattered_.size());
  catalog_.scattered_.emplace_back(pieces.begin(), pieces.end());
}

// Initializers of one name in one graph. By hash, so that it costs sixteen bytes a tensor and no second copy of names.
void CatalogBuilder::remark_on_duplicates() {
  const auto& tensors = catalog_.tensors_;
  std::vector<std::pair<uint64_t, uint32_t>> by_hash;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.kind != Kind::initializer) continue;
    by_hash.emplace_back(XXH3_64bits_withSeed(tensor.name.data(), tensor.name.size(), tensor.section), i);
  }
  std::ranges::sort(by_hash);
  std::vector<uint32_t> repeated;
  for (size_t i = 1; i < by_hash.size(); ++i) {
    const Tensor& first = tensors[by_hash[i - 1].second];
    const Tensor& second = tensors[by_hash[i].second];
    if (first.section == second.section && first.name == second.name) repeated.push_back(by_hash[i].second);
  }
  std::ranges::sort(repeated);
  for (const uint32_t index : repeated) {
    catalog_.findings_.push_back({index, "an earlier initializer has the same name; runtimes take the last of them",
                                  tensors[index].message.begin});
  }
}

}  // namespace onnxfs
