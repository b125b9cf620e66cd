#include "core/views/live_model.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/views/model_rewrite.h"

namespace onnxfs {

namespace {

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

ModelRewrite::Changes changes_of(const Model& model, const Edits& edits, const Relocations& relocations) {
  ModelRewrite rewrite(model);
  for (const auto& [index, edit] : edits) {
    if (edit == nullptr) continue;
    if (edit->payload) rewrite.set_payload(index, *edit->payload);
    rewrite.annotate(index, *edit);
  }
  relocate(model, relocations, rewrite.fields());
  ModelRewrite::Changes changes = std::move(rewrite).take();
  if (!changes.in_place) require_unmoved(model, changes.patches);
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
  ModelRewrite::Changes changes = changes_of(model, edits, {});
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
