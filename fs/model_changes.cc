// Changes to the files of a model's mount that need no open file, and what follows from a change.
#include <fcntl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "core/bytes/error.h"
#include "fs/model_filesystem.h"

namespace onnxfs {

namespace {

constexpr mode_t permission_bits = 0777;

timespec now() {
  timespec time;
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

}  // namespace

void ModelFilesystem::require_scratch_name(Place folder, std::string_view name) const {
  constexpr size_t longest_name = 255;  // as `statistics` says
  if (name.size() > longest_name) fail(ENAMETOOLONG, "a name of {} bytes is too long", name.size());
  if (!takes_scratch_files(folder)) fail(EPERM, "no files can be made in {}", path_of(folder));
}

bool ModelFilesystem::takes_scratch_files(Place folder) const {
  if (!ownership_.writable || (folder.facet != Facet::folder && folder.facet != Facet::npy_folder)) return false;
  const auto children = tree().children(folder.node);
  return std::ranges::any_of(children,
                             [this](uint32_t child) { return tree().node(child).kind == Node::Kind::tensor; });
}

Filesystem::Created ModelFilesystem::create(uint64_t inode, std::string_view name, mode_t mode, int flags) {
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  const Place folder = folder_at(inode);
  if (layout_.find(folder, name)) fail(EEXIST, "{} is there already", name);
  require_scratch_name(folder, name);
  sidecar_->acquire();
  const auto file =
      scratch_.add(inode, name, sidecar_->stage(), {mode & ~ownership_.umask, ownership_.uid, ownership_.gid, now()});
  return {entry_of(*file), open_scratch(file->id(), flags)};
}

// Of a file that is open, OpenFile::resize does it. Without, nobody would close it and so end a draft.
void ModelFilesystem::resize(uint64_t inode, uint64_t size) {
  if (is_scratch(inode)) {
    const auto file = scratch_.find(inode >> 8);
    if (!file) fail(ENOENT, "the file was removed");
    file->resize(size);
    return;
  }
  const Place at = place(inode);
  if (is_folder(at.facet)) fail(EISDIR, "inode {} is a folder", inode);
  require_editable(at);
  const uint64_t present = views_.size(tensor_of(at), at.facet);
  if (size != present) fail(EINVAL, "{} has {} bytes, and keeps them", path_of(at), present);
}

void ModelFilesystem::change_attributes(uint64_t inode, const AttributeChange& change) {
  if (is_scratch(inode)) {
    const auto file = scratch_.find(inode >> 8);
    if (!file) fail(ENOENT, "the file was removed");
    file->change_attributes(change);
    return;
  }
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  // Programs that copy set what they copied from, and take a refusal for a failed copy. So what is already so may be
  // set; and a time may be, without effect: an edit has the time at which it was made.
  const struct stat present = entry_of(place(inode)).attributes;
  const bool is_same = (!change.mode || (*change.mode & permission_bits) == (present.st_mode & permission_bits)) &&
                       change.uid.value_or(present.st_uid) == present.st_uid &&
                       change.gid.value_or(present.st_gid) == present.st_gid;
  if (!is_same) fail(EPERM, "modes and owners are set when a model is mounted");
}

void ModelFilesystem::rename(uint64_t inode, std::string_view name, uint64_t new_inode, std::string_view new_name,
                             bool replaces) {
  const Place folder = folder_at(inode), new_folder = folder_at(new_inode);
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  const auto file = scratch_.find(inode, name);
  if (!file) fail(layout_.find(folder, name) ? EPERM : ENOENT, "{} cannot be renamed", name);
  const auto target = layout_.find(new_folder, new_name);
  if (!replaces && (target || scratch_.find(new_inode, new_name))) fail(EEXIST, "{} is there already", new_name);
  if (!target) {
    require_scratch_name(new_folder, new_name);
    scratch_.rename(inode, name, new_inode, new_name);
    return;
  }
  if (is_folder(target->facet)) fail(EISDIR, "{} is a folder", new_name);
  require_editable(*target);
  const auto changed = [this, at = *target] { note_change(at, true); };
  file->become(editable(*target), changed);
  scratch_.remove(inode, name);
  changed();
}

void ModelFilesystem::remove(uint64_t inode, std::string_view name) {
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  const Place folder = folder_at(inode);
  if (scratch_.remove(inode, name)) return;
  fail(layout_.find(folder, name) ? EPERM : ENOENT, "{} cannot be removed", name);
}

void ModelFilesystem::tidy() noexcept {
  try {
    sidecar_->compact();
  } catch (const std::exception& error) {
    spdlog::warn("the edits take more room than they need: {}", error.what());
  }
}

uint64_t ModelFilesystem::memory() const {
  constexpr uint64_t bytes_a_tensor = 600;  // of the catalog and the tree, by measurement
  return bytes_a_tensor * model().catalog().tensors().size();
}

std::vector<uint32_t> ModelFilesystem::edited() const {
  std::vector<uint32_t> tensors;
  for (const auto& [tensor, edit] : sidecar_->edits().snapshot()) tensors.push_back(tensor);
  return tensors;
}

void ModelFilesystem::doubt(const std::vector<uint32_t>& tensors) const {
  for (const uint32_t tensor : tensors) note_change(layout_.files_of(tensor).front(), true);
}

void ModelFilesystem::note_change(Place changed, bool is_replaced) const {
  const SharedPayloads& shared = sidecar_->shared_payloads();
  const uint32_t index = tensor_of(changed);
  for (const uint32_t tensor : shared.sharers(shared.owner(index))) {
    for (const Place file : layout_.files_of(tensor)) {
      if (file != changed || is_replaced) note_stale(file);
    }
  }
  for (const Place document : following_documents_) note_stale(document);
  const uint32_t data_file = model().catalog().tensors()[index].data_file;
  for (uint32_t number = 0; number < layout_.live().files().size(); ++number) {
    const bool is_holder = layout_.live().files()[number].data_file == data_file;
    if (is_holder || number == LiveTree::model_file) note_stale({number, Facet::live_file});
  }
  std::call_once(first_change_, [this] { note_first_change(); });
  if (sidecar_->may_be_worth_compacting()) watcher_.untidy();
}

// The kernel was told that it may believe these sizes as long as nothing is edited, so that it need not ask at every
// read. It is told otherwise before the edit is answered: who looks right after that is to see the new ones. Whoever
// edits something else meanwhile waits for that too.
void ModelFilesystem::note_first_change() const {
  for (const Place document : following_documents_) watcher_.attributes_changed(Layout::inode(document));
  for (uint32_t number = 0; number < layout_.live().files().size(); ++number) {
    watcher_.attributes_changed(Layout::inode(number, Facet::live_file));
  }
}

void ModelFilesystem::note_stale(Place place) const {
  const uint64_t inode = Layout::inode(place);
  if (stale_.mark(inode)) watcher_.changed(inode);
}

}  // namespace onnxfs
