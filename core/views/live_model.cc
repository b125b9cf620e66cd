#include "core/views/live_model.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include "core/bytes/error.h"
#include "core/views/padding.h"
#include "core/views/tensor_rewrite.h"

namespace onnxfs {

namespace {

// The file that a tensor's payload stands in: null when that is a data file which may not be read.
const FileSource* file_of(const Model& model, const Tensor& tensor) {
  if (tensor.data_file == Tensor::no_index) return model.file().get();
  return model.catalog().data_files()[tensor.data_file].source.get();
}

bool stands_in(const Model& model, const Tensor& tensor, const FileIdentity& file) {
  const FileSource* source = file_of(model, tensor);
  return source != nullptr && source->identity() == file;
}

void require_size(const Tensor& tensor, const Rope& payload) {
  if (tensor.data_type == string_type || payload.size() == tensor.nbytes) return;
  fail(EINVAL, "tensor \"{}\" has {} bytes; an edit of {} cannot take their place", tensor.name, tensor.nbytes,
       payload.size());
}

// The edits of payloads that stand in one file in their own form, as patches.
class PlacedPayloads {
 public:
  explicit PlacedPayloads(const Model& model) : model_(model) {}

  // Whether the tensor's payload does; then what is edited of it becomes patches.
  bool add(uint32_t index, const Rope& edited) {
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

  std::vector<Patch> take() && {
    sort_patches(patches_);
    return std::move(patches_);
  }

 private:
  void add_changes(const Tensor& tensor, const Rope& original, Rope edited) {
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

  const Model& model_;
  std::set<std::pair<uint64_t, uint64_t>> seen_;
  std::vector<Patch> patches_;
};

bool stands_in_itself(const Model& model, const Tensor& tensor) {
  return tensor.data_file != Tensor::no_index && tensor.in_one_piece &&
         stands_in(model, tensor, model.file()->identity());
}

void relocate(const Model& model, const Relocations& relocations, TensorRewriter& rewriter) {
  if (relocations.empty()) return;
  for (const Tensor& tensor : model.catalog().tensors()) {
    const auto location = relocations.find(tensor.data_file);
    if (location == relocations.end()) continue;
    if (tensor.storage == Storage::delayed) {
      fail(EINVAL, "a node names the data file \"{}\", so it cannot become \"{}\"; keep its name free",
           model.file_name_of(tensor), location->second);
    }
    if (tensor.storage == Storage::external && !tensor.broken()) rewriter.set_location(tensor, location->second);
  }
}

// A tensor at a fixed offset in the model's own file would be elsewhere.
void require_unmoved(const Model& model, const std::vector<Patch>& patches) {
  if (std::ranges::all_of(patches, &Patch::keeps_size)) return;
  for (const Tensor& tensor : model.catalog().tensors()) {
    if (!stands_in_itself(model, tensor)) continue;
    fail(EINVAL,
         "{} has tensor \"{}\" at a fixed offset in itself, as external data; edits that change the size of the file "
         "cannot be committed",
         model.name(), tensor.name);
  }
}

struct ModelChanges {
  std::vector<Patch> patches;  // in order
  bool in_place = true;        // whether payloads are all that they change
};

ModelChanges changes_of(const Model& model, const Edits& edits, const Relocations& relocations) {
  TensorRewriter rewriter(model);
  PlacedPayloads placed(model);
  for (const auto& [index, edit] : edits) {
    if (edit == nullptr) continue;
    const Tensor& tensor = model.catalog().tensors()[index];
    if (edit->payload && (tensor.nbytes != 0 || !edit->payload->empty()) &&
        stands_in(model, tensor, model.file()->identity()) && !placed.add(index, *edit->payload)) {
      rewriter.set_payload(tensor, *edit->payload);
    }
    if (edit->dims) rewriter.set_dims(tensor, *edit->dims);
    if (edit->doc_string) rewriter.set_doc_string(tensor, *edit->doc_string);
  }
  relocate(model, relocations, rewriter);

  ModelChanges changes;
  changes.patches = std::move(placed).take();
  std::vector<wire::Splice> splices = std::move(rewriter).take();
  if (splices.empty()) return changes;
  changes.in_place = false;
  std::vector<Patch> spliced = wire::splice(rewriter.window(), std::move(splices));
  std::ranges::move(spliced, std::back_inserter(changes.patches));
  sort_patches(changes.patches);
  require_unmoved(model, changes.patches);
  return changes;
}

}  // namespace

Rope live_model(const Model& model, const Edits& edits, const Relocations& relocations) {
  return patched(model.file(), changes_of(model, edits, relocations).patches);
}

Rope live_data_file(const Model& model, uint32_t data_file, const Edits& edits) {
  const DataFile& file = model.catalog().data_files()[data_file];
  if (!file.source) throw Error(EIO, file.refusal);
  if (file.source->identity() == model.file()->identity()) return live_model(model, edits);
  return patched(file.source, data_file_patches(model, data_file, edits));
}

std::optional<std::vector<Patch>> model_patches(const Model& model, const Edits& edits) {
  ModelChanges changes = changes_of(model, edits, {});
  if (!changes.in_place) return std::nullopt;
  return std::move(changes.patches);
}

std::vector<Patch> data_file_patches(const Model& model, uint32_t data_file, const Edits& edits) {
  const DataFile& file = model.catalog().data_files()[data_file];
  if (!file.source) throw Error(EIO, file.refusal);
  PlacedPayloads placed(model);
  for (const auto& [index, edit] : edits) {
    const Tensor& tensor = model.catalog().tensors()[index];
    if (edit == nullptr || !edit->payload || edit->payload->empty() || tensor.data_file == Tensor::no_index) continue;
    if (stands_in(model, tensor, file.source->identity())) placed.add(index, *edit->payload);
  }
  return std::move(placed).take();
}

}  // namespace onnxfs
