#include "core/views/model_rewrite.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "core/bytes/error.h"
#include "core/views/padding.h"

namespace onnxfs {

namespace {

// The file that a tensor's payload stands in: null when that is a data file which may not be read.
const FileSource* file_of(const Model& model, const Tensor& tensor) {
  if (tensor.data_file == Tensor::no_index) return model.file().get();
  return model.catalog().data_files()[tensor.data_file].source.get();
}

void require_size(const Tensor& tensor, const Rope& payload) {
  if (tensor.data_type == string_type || payload.size() == tensor.nbytes) return;
  fail(EINVAL, "tensor \"{}\" has {} bytes; an edit of {} cannot take their place", tensor.name, tensor.nbytes,
       payload.size());
}

}  // namespace

bool stands_in(const Model& model, const Tensor& tensor, const FileIdentity& file) {
  const FileSource* source = file_of(model, tensor);
  return source != nullptr && source->identity() == file;
}

bool PlacedPayloads::add(uint32_t index, const Rope& edited) {
  const Tensor& tensor = model_.catalog().tensors()[index];
  const Rope original = model_.payload(index);
  require_size(tensor, edited);
  const FileSource* file = file_of(model_, tensor);
  const std::vector<Extent> places = original.extents();
  if (!std::ranges::all_of(places, [file](const Extent& place) { return place.source.get() == file; })) return false;
  // Tensors that share a payload are edited as one; the edit is in the list of each of them, or of the first.
  const bool is_shared =
      tensor.data_file != Tensor::no_index && !seen_.emplace(tensor.data.begin, tensor.data.end).second;
  if (!is_shared) add_changes(tensor, original, edited);
  return true;
}

std::vector<Patch> PlacedPayloads::take() && {
  sort_patches(patches_);
  return std::move(patches_);
}

void PlacedPayloads::add_changes(const Tensor& tensor, const Rope& original, Rope edited) {
  const std::vector<ByteRange> changes = changed_ranges(original, edited);
  if (!changes.empty() && changes.back().end == tensor.nbytes) edited = with_clear_padding(tensor, edited);
  for (const ByteRange change : changes) {
    std::vector<Extent> places;
    original.collect(change.begin, change.size(), places);
    uint64_t at = change.begin;
    for (const Extent& place : places) {
      patches_.push_back({{place.offset, place.offset + place.length}, edited.slice(at, place.length)});
      at += place.length;
    }
  }
}

void ModelRewrite::set_payload(uint32_t index, const Rope& payload) {
  const Tensor& tensor = model_.catalog().tensors()[index];
  if (tensor.nbytes == 0 && payload.empty()) return;
  if (!stands_in(model_, tensor, model_.file()->identity()) || placed_.add(index, payload)) return;
  fields_.set_payload(tensor, payload);
}

void ModelRewrite::annotate(uint32_t index, const TensorEdit& edit) {
  const Tensor& tensor = model_.catalog().tensors()[index];
  if (edit.dims) fields_.set_dims(tensor, *edit.dims);
  if (edit.doc_string) fields_.set_doc_string(tensor, *edit.doc_string);
}

ModelRewrite::Changes ModelRewrite::take() && {
  Changes changes;
  changes.patches = std::move(placed_).take();
  std::vector<wire::Splice> splices = std::move(fields_).take();
  if (splices.empty()) return changes;
  changes.in_place = false;
  std::vector<Patch> spliced = wire::splice(fields_.window(), std::move(splices));
  std::ranges::move(spliced, std::back_inserter(changes.patches));
  sort_patches(changes.patches);
  return changes;
}

}  // namespace onnxfs
