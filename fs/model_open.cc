// Opening the files of a model's mount, to read them or to write.
#include <fcntl.h>

#include <cerrno>

#include "core/bytes/error.h"
#include "core/views/json_edit.h"
#include "core/views/tensor_json.h"
#include "fs/model_filesystem.h"

namespace onnxfs {

std::unique_ptr<OpenFile> ModelFilesystem::open(uint64_t inode, int flags) const {
  if (is_scratch(inode)) return open_scratch(inode >> 8, flags);
  const Place at = place(inode);
  const bool to_write = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  if (at.facet == Facet::folder) fail(EISDIR, "inode {} is a folder", inode);
  if (to_write) require_editable(at);
  std::unique_ptr<OpenFile> file;
  if (at.facet == Facet::document) {
    const auto document = static_cast<Document>(tree_.node(at.node).subject);
    file = std::make_unique<SnapshotFile>(*documents_.content(document));
    file->direct = Documents::is_momentary(document);
  } else {
    file = at.facet == Facet::payload ? open_payload(at, to_write) : open_json(at, to_write);
  }
  file->keep_cache = !stale_.take(inode) && file->keep_cache;
  file->writable = to_write;
  if ((flags & O_TRUNC) != 0) static_cast<EditableFile&>(*file).begin_replacement();
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_payload(Place at, bool to_write) const {
  const uint32_t index = tree_.node(at.node).subject;
  std::unique_ptr<OpenFile> file;
  try {
    file = is_editable(at) ? open_editable(at, editable(at)) : std::make_unique<SnapshotFile>(sidecar_->payload(index));
  } catch (const Error& error) {
    if (to_write && error.code() == EIO) throw Error(EROFS, error.what());  // it turned out to be broken
    throw;
  }
  // What the kernel has cached would hide a change of the file that it came from.
  file->content().require_current();
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_json(Place at, bool to_write) const {
  const uint32_t index = tree_.node(at.node).subject;
  const bool may_be_broken = !model().catalog().tensors()[index].entries_counted;
  if (may_be_broken) {
    try {
      model().payload(index);
    } catch (const Error& error) {
      if (error.code() != EIO) throw;  // the JSON tells of it
      if (to_write) throw Error(EROFS, error.what());
    }
  }
  auto file =
      is_editable(at) ? open_editable(at, editable(at)) : std::make_unique<SnapshotFile>(Rope::of(json_of(index)));
  if (may_be_broken) file->keep_cache = false;
  // The size of one that was edited, or is being written, is not what the kernel was told.
  if (to_write || sidecar_->edits().find(index)) file->direct = true;
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_editable(Place at, std::unique_ptr<Editable> target) const {
  const uint64_t inode = number(at.node, at.facet);
  // The kernel is not told of a draft that is dropped: it asks for the size again by itself, and would ignore the
  // answer if it were told meanwhile.
  auto file = std::make_unique<EditableFile>(
      std::move(target), EditableFile::Surroundings{inode, sidecar_, drafts_,
                                                    [this, at](bool is_replaced) { note_change(at, is_replaced); },
                                                    [this, inode] { stale_.mark(inode); }});
  // A draft that is not shown has left its bytes in the kernel's cache.
  const auto draft = drafts_.find(inode);
  if (draft != nullptr && !draft->visible()) file->keep_cache = false;
  return file;
}

std::unique_ptr<OpenFile> ModelFilesystem::open_scratch(uint64_t id, int flags) const {
  const auto scratch = scratch_.find(id);
  if (!scratch) fail(ENOENT, "the file was removed");
  auto file = std::make_unique<OpenScratchFile>(scratch->stage);
  file->writable = (flags & O_ACCMODE) != O_RDONLY;
  if ((flags & O_TRUNC) != 0) scratch->stage->resize(0);
  return file;
}

std::unique_ptr<Editable> ModelFilesystem::editable(Place at) const {
  const uint32_t index = tree_.node(at.node).subject;
  return at.facet == Facet::json ? editable_json(sidecar_, index) : editable_payload(sidecar_, index);
}

bool ModelFilesystem::is_editable(Place at) const {
  if (!ownership_.writable || (at.facet != Facet::payload && at.facet != Facet::json)) return false;
  const uint32_t index = tree_.node(at.node).subject;
  const Tensor& tensor = model().catalog().tensors()[index];
  if (tensor.broken() || tensor.type() == nullptr || tensor.kind == Kind::delayed) return false;
  return at.facet == Facet::json ? can_be_annotated(tensor) : !sidecar_->shared_payloads().overlaps(index);
}

void ModelFilesystem::require_editable(Place at) const {
  if (is_editable(at)) return;
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  if (at.facet == Facet::payload) {
    const uint32_t index = tree_.node(at.node).subject;
    if (const auto other = sidecar_->shared_payloads().overlaps(index)) {
      fail(EROFS, "{} has some of its bytes in common with {}, so neither can be edited", tree_.path_of_tensor(index),
           tree_.path_of_tensor(*other));
    }
  }
  fail(EROFS, "{} cannot be edited", tree_.path(at.node));
}

}  // namespace onnxfs
