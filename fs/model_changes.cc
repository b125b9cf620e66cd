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

bool ModelFilesystem::takes_scratch_files(uint32_t folder) const {
  const auto children = tree_.children(folder);
  return ownership_.writable &&
         std::ranges::any_of(children, [this](uint32_t child) { return tree_.node(child).kind == Node::Kind::tensor; });
}

Filesystem::Created ModelFilesystem::create(uint64_t inode, std::string_view name, mode_t mode, int flags) {
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  const uint32_t folder = folder_at(inode);
  if (find(folder, name)) fail(EEXIST, "{} is there already", name);
  if (!takes_scratch_files(folder)) fail(EPERM, "no files can be made in {}", tree_.path(folder));
  sidecar_->acquire();
  const ScratchFile file =
      scratch_.add(folder, name, {0, sidecar_->stage(), mode & permission_bits, ownership_.uid, ownership_.gid, now()});
  return {entry_of(file), open_scratch(file.id, flags)};
}

// Of a file that is open, OpenFile::resize does it. Without, nobody would close it and so end a draft.
void ModelFilesystem::resize(uint64_t inode, uint64_t size) {
  if (is_scratch(inode)) {
    const auto file = scratch_.find(inode >> 8);
    if (!file) fail(ENOENT, "the file was removed");
    file->stage->resize(size);
    return;
  }
  const Place at = place(inode);
  if (at.facet == Facet::folder) fail(EISDIR, "inode {} is a folder", inode);
  require_editable(at);
  if (const auto draft = drafts_.find(inode); draft && draft->visible()) return draft->resize(size);
  const uint64_t present = size_of(at);
  if (size != present) fail(EINVAL, "{} has {} bytes, and keeps them", tree_.path(at.node), present);
}

void ModelFilesystem::change_attributes(uint64_t inode, const AttributeChange& change) {
  if (is_scratch(inode)) {
    scratch_.update(inode >> 8, [&](ScratchFile& file) {
      file.mode = change.mode.value_or(file.mode) & permission_bits;
      file.uid = change.uid.value_or(file.uid);
      file.gid = change.gid.value_or(file.gid);
      file.mtime = change.mtime.value_or(file.mtime);
    });
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
  const uint32_t folder = folder_at(inode), new_folder = folder_at(new_inode);
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  const auto file = scratch_.find(folder, name);
  if (!file) fail(find(folder, name) ? EPERM : ENOENT, "{} cannot be renamed", name);
  const auto target = find(new_folder, new_name);
  if (!replaces && (target || scratch_.find(new_folder, new_name))) fail(EEXIST, "{} is there already", new_name);
  if (!target) {
    if (!takes_scratch_files(new_folder)) fail(EPERM, "no files can be made in {}", tree_.path(new_folder));
    scratch_.rename(folder, name, new_folder, new_name);
    return;
  }
  if (target->facet == Facet::folder) fail(EISDIR, "{} is a folder", new_name);
  require_editable(*target);
  editable(*target)->replace(*file->stage);
  scratch_.remove(folder, name);
  note_change(*target, true);
}

void ModelFilesystem::remove(uint64_t inode, std::string_view name) {
  if (!ownership_.writable) fail(EROFS, "the mount is read-only");
  const uint32_t folder = folder_at(inode);
  if (scratch_.remove(folder, name)) return;
  fail(find(folder, name) ? EPERM : ENOENT, "{} cannot be removed", name);
}

void ModelFilesystem::tidy() noexcept {
  try {
    sidecar_->compact();
  } catch (const std::exception& error) {
    spdlog::warn("the edits take more room than they need: {}", error.what());
  }
}

void ModelFilesystem::note_change(Place changed, bool is_replaced) const {
  const uint32_t index = tree_.node(changed.node).subject;
  const SharedPayloads& shared = sidecar_->shared_payloads();
  for (const uint32_t tensor : shared.sharers(shared.owner(index))) {
    const uint32_t node = tree_.node_of_tensor(tensor);
    for (const TensorFile& file : tensor_files) {
      const bool is_itself = node == changed.node && file.facet == changed.facet;
      if (!is_itself || is_replaced) note_stale(number(node, file.facet), file.facet);
    }
  }
  if (const auto index_file = tree_.find_entry(Tree::root, "index.tsv")) {
    note_stale(number(*index_file, Facet::document), Facet::document);
  }
  if (sidecar_->may_be_worth_compacting()) watcher_.untidy();
}

// Of a payload that others may have mapped the kernel is told each time; of the rest, once until somebody opens it, as
// nothing of it is cached before that.
void ModelFilesystem::note_stale(uint64_t inode, Facet facet) const {
  if (stale_.mark(inode) || facet == Facet::payload) watcher_.changed(inode);
}

}  // namespace onnxfs
