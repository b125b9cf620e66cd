// Opening the files of a model's mount, to read them or to write.
#include <fcntl.h>

#include <cerrno>

#include "core/bytes/error.h"
#include "core/views/json_edit.h"
#include "fs/model_filesystem.h"
#include "fs/versioned_file.h"

namespace onnxfs {

std::unique_ptr<OpenFile> ModelFilesystem::open(uint64_t inode, int flags) const {
  if (is_scratch(inode)) return open_scratch(inode >> 8, flags);
  const Place at = place(inode);
  const bool to_write = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  if (is_folder(at.facet)) fail(EISDIR, "inode {} is a folder", inode);
  if (to_write) require_editable(at);
  std::unique_ptr<OpenFile> file;
  if (at.facet == Facet::document) file = open_document(at);
  else if (at.facet == Facet::live_file) file = open_live_file(at);
  else file = open_tensor_file(at, to_write);
  file->keep_cache = !stale_.take(inode) && file->keep_cache;
  file->writable = to_write;
  if ((flags & O_TRUNC) != 0) {
    static_cast<EditableFile&>(*file).begin_replacement();
    // So nothing of a replacement that is dropped stays in the kernel's cache, where others may have the file mapped.
    // Who may read it as well may want to map it, which a direct file does not let them.
    if ((flags & O_ACCMODE) == O_WRONLY) file->direct = true;
  }
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_document(Place at) const {
  const Document document = document_of(at);
  std::unique_ptr<OpenFile> file;
  if (document == Document::safetensors) {
    file = std::make_unique<VersionedFile>([this] { return sidecar_->edits().version(); },
                                           [this, at] {
                                             stale_.note_read(Layout::inode(at));
                                             return *documents_.content(Document::safetensors);
                                           });
  } else {
    file = std::make_unique<SnapshotFile>(*documents_.content(document));
  }
  // As of the JSON of a tensor: with each edit it may have another size.
  const bool is_varying = document == Document::index_tsv && !is_size_lasting();
  file->direct = is_varying || Documents::is_momentary(document);
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_live_file(Place at) const {
  auto file = std::make_unique<VersionedFile>([this] { return live_.version(); },
                                              [this, at] {
                                                stale_.note_read(Layout::inode(at));
                                                return live_.content(at.node);
                                              });
  file->content().require_current();
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_tensor_file(Place at, bool to_write) const {
  const uint32_t index = tensor_of(at);
  const bool may_be_broken = !model().catalog().tensors()[index].entries_counted;
  std::unique_ptr<OpenFile> file;
  try {
    if (may_be_broken) model().payload(index);
    if (at.facet == Facet::json && !to_write) {
      // An edit of the tensor makes it longer or shorter: half of each would be no JSON.
      file = std::make_unique<SnapshotFile>(views_.content(index, at.facet));
    } else if (is_editable(at)) {
      file = open_editable(at);
    } else {
      file = std::make_unique<VersionedFile>([this, index] { return sidecar_->edits().version(index); },
                                             [this, index, at] {
                                               stale_.note_read(Layout::inode(at));
                                               return views_.content(index, at.facet);
                                             });
    }
  } catch (const Error& error) {
    if (error.code() != EIO) throw;
    if (to_write) throw Error(EROFS, error.what());  // it turned out to be broken
    if (at.facet != Facet::json) throw;
    file = std::make_unique<SnapshotFile>(views_.content(index, at.facet));  // the JSON tells of it
  }
  // What the kernel has cached would hide a change of the file that it came from.
  if (at.facet != Facet::json) file->content().require_current();
  if (may_be_broken && at.facet == Facet::json) file->keep_cache = false;
  // The size of a JSON that was edited, or is being written, is not what the kernel was told.
  if (at.facet == Facet::json && (to_write || sidecar_->edits().find(index))) file->direct = true;
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_editable(Place at) const {
  const uint64_t inode = Layout::inode(at);
  auto file = std::make_unique<EditableFile>(
      editable(at),
      EditableFile::Surroundings{inode, path_of(at), sidecar_, drafts_,
                                 [this, at](bool is_replaced) { note_change(at, is_replaced); },
                                 [this, inode] { stale_.mark(inode); }, [this, inode] { stale_.note_read(inode); }});
  // The kernel may have cached bytes of a draft.
  if (drafts_.find(inode)) file->keep_cache = false;
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_scratch(uint64_t id, int flags) const {
  const auto scratch = scratch_.find(id);
  if (!scratch) fail(ENOENT, "the file was removed");
  auto file = std::make_unique<OpenScratchFile>(scratch);
  file->writable = (flags & O_ACCMODE) != O_RDONLY;
  if ((flags & O_TRUNC) != 0) scratch->resize(0);
  return file;
}

// What is written there may be anything of the model's: its names, its nodes, or what tells where they end.
static bool is_in_model_itself(const Model& model, const Tensor& tensor) {
  if (tensor.data_file == Tensor::no_index) return false;
  const auto& source = model.catalog().data_files()[tensor.data_file].source;
  return source != nullptr && source->identity() == model.file()->identity();
}

std::unique_ptr<Editable> ModelFilesystem::editable(Place at) const {
  const uint32_t index = tensor_of(at);
  switch (at.facet) {
    case Facet::json: return editable_json(sidecar_, index);
    case Facet::npy: return editable_npy(sidecar_, index);
    default: return editable_payload(sidecar_, index);
  }
}

bool ModelFilesystem::is_editable(Place at) const {
  if (!ownership_.writable) return false;
  if (at.facet != Facet::payload && at.facet != Facet::json && at.facet != Facet::npy) return false;
  const uint32_t index = tensor_of(at);
  const Tensor& tensor = model().catalog().tensors()[index];
  if (tensor.broken() || tensor.type() == nullptr || tensor.kind == Kind::delayed) return false;
  if (is_in_model_itself(model(), tensor)) return false;
  if (at.facet == Facet::json) return can_be_annotated(tensor);
  const SharedPayloads& shared = sidecar_->shared_payloads();
  return !shared.overlaps(index) && shared.owner(index) == index;
}

void ModelFilesystem::require_editable(Place at) const {
  if (is_editable(at)) return;
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  if (at.facet == Facet::payload || at.facet == Facet::npy) {
    const uint32_t index = tensor_of(at);
    if (is_in_model_itself(model(), model().catalog().tensors()[index])) {
      fail(EROFS, "{} is external data in the model's own file, among what makes it a model",
           tree().path_of_tensor(index));
    }
    if (const auto other = sidecar_->shared_payloads().overlaps(index)) {
      fail(EROFS, "{} has some of its bytes in common with {}, so neither can be edited", tree().path_of_tensor(index),
           tree().path_of_tensor(*other));
    }
    // The kernel has a cache for each of their files, and writes whole pages of it: with two of them, what is written
    // through one would be undone by the other.
    if (const uint32_t owner = sidecar_->shared_payloads().owner(index); owner != index) {
      fail(EROFS, "{} has the bytes of {}; edit them there", tree().path_of_tensor(index),
           tree().path_of_tensor(owner));
    }
  }
  fail(EROFS, "{} cannot be edited", path_of(at));
}

std::string ModelFilesystem::path_of(Place at) const {
  const bool is_live = at.facet == Facet::live_file || at.facet == Facet::live_folder;
  return is_live ? "what is in live" : tree().path(at.node);
}

}  // namespace onnxfs
