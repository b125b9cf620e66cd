#include "fs/model_filesystem.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/views/tensor_json.h"

namespace onnxfs {

namespace {

constexpr uint64_t page = 4096;

constexpr std::string_view name_attribute = "user.onnx.name";
constexpr std::string_view dtype_attribute = "user.onnx.dtype";
constexpr std::string_view shape_attribute = "user.onnx.shape";
constexpr std::string_view hash_attribute = "user.onnx.xxh128";

// Offsets in a folder: "." and ".." first, then the slots of the layout, then scratch files.
constexpr uint64_t dots = 2;
constexpr uint64_t scratch_offset = dots + Layout::slot_end;

std::string parent_of(const std::string& path) { return std::filesystem::absolute(path).parent_path(); }

// How many bytes there are on the disk of a folder; 0 when that is not known.
uint64_t room_on_disk(const UniqueFd& folder) {
  struct statvfs disk;
  return folder && ::fstatvfs(folder.get(), &disk) == 0 ? uint64_t{disk.f_bavail} * disk.f_frsize : 0;
}

std::vector<Place> documents_that_follow_edits(const Tree& tree) {
  std::vector<Place> documents;
  for (const uint32_t child : tree.children(Tree::root)) {
    const Node& node = tree.node(child);
    if (node.kind != Node::Kind::document) continue;
    if (Documents::follows_edits(static_cast<Document>(node.subject))) documents.push_back({child, Facet::document});
  }
  return documents;
}

}  // namespace

ModelFilesystem::ModelFilesystem(std::shared_ptr<Sidecar> sidecar, Ownership ownership, StatusText status)
    : sidecar_(std::move(sidecar)),
      ownership_(ownership),
      layout_(sidecar_->model(), static_cast<bool>(status)),
      views_(sidecar_),
      documents_(sidecar_, layout_.tree(), views_.digests(),
                 [this, status = std::move(status)] { return status(scratch_files()); }),
      live_(sidecar_, layout_.live()),
      following_documents_(documents_that_follow_edits(layout_.tree())),
      edits_disk_(::open(parent_of(sidecar_->folder()).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

std::vector<std::string> ModelFilesystem::scratch_files() const {
  std::vector<std::string> paths;
  for (const auto& [folder, name] : scratch_.all()) paths.push_back(path_of(place(folder)) + "/" + name);
  return paths;
}

Place ModelFilesystem::place(uint64_t inode) const {
  const auto place = layout_.place(inode);
  if (!place) fail(ENOENT, "inode {} does not exist", inode);
  return *place;
}

Place ModelFilesystem::folder_at(uint64_t inode) const {
  if (is_scratch(inode)) fail(ENOTDIR, "inode {} is no folder", inode);
  const Place at = place(inode);
  if (!is_folder(at.facet)) fail(ENOTDIR, "inode {} is no folder", inode);
  return at;
}

Entry ModelFilesystem::lookup(uint64_t inode, std::string_view name, std::optional<Absence>& absence) const {
  const Place folder = folder_at(inode);
  absence.reset();
  if (const auto found = layout_.find(folder, name)) {
    if (!is_absent(*found)) return entry_of(*found);
    absence = Absence{0};
    return {};
  }
  if (const auto file = scratch_.find(inode, name)) return entry_of(*file);
  absence = Absence{lasting};
  return {};
}

Entry ModelFilesystem::entry(uint64_t inode) const {
  if (!is_scratch(inode)) return entry_of(place(inode));
  const auto file = scratch_.find(inode >> 8);
  if (!file) fail(ENOENT, "the file was removed");
  return entry_of(*file);
}

Entry ModelFilesystem::entry_of(Place at) const {
  if (is_folder(at.facet)) return entry_of_folder(at);
  if (at.facet == Facet::document) return entry_of_document(at);
  return at.facet == Facet::live_file ? entry_of_live_file(at) : entry_of_tensor_file(at);
}

// Nothing of it may be believed for a moment: it may be renamed over a tensor.
Entry ModelFilesystem::entry_of(const ScratchFile& scratch) const {
  const ScratchFile::Attributes attributes = scratch.attributes();
  const uint64_t inode = Layout::inode(scratch.id(), Facet::scratch);
  Entry file = file_entry(inode, scratch.content().size(), attributes.mtime, ownership_);
  file.attributes.st_mode = S_IFREG | attributes.mode;
  file.attributes.st_uid = attributes.uid;
  file.attributes.st_gid = attributes.gid;
  file.attributes_valid = file.name_valid = 0;
  return file;
}

Entry ModelFilesystem::entry_of_folder(Place at) const {
  timespec mtime = model().file()->identity().mtime;
  const bool is_root = at == Place();
  // problems.txt appears in it when reading brings up the first problem; the modification time tells.
  if (is_root) mtime = model().found_late_at().value_or(mtime);
  Entry folder = folder_entry(Layout::inode(at), 2 + layout_.subfolders(at), mtime, ownership_);
  // No shorter than this, since the kernel asks again for each path that it walks from here.
  if (is_root) folder.attributes_valid = seconds_to_notice;
  return folder;
}

Entry ModelFilesystem::entry_of_document(Place at) const {
  const Document document = document_of(at);
  const timespec mtime = Documents::follows_edits(document) ? live_.changed_at() : model().file()->identity().mtime;
  Entry file = file_entry(Layout::inode(at), documents_.size(document), mtime, ownership_);
  if (Documents::is_momentary(document)) file.attributes_valid = file.name_valid = 0;
  if (Documents::follows_edits(document) && !is_size_lasting()) file.attributes_valid = 0;
  return file;
}

Entry ModelFilesystem::entry_of_live_file(Place at) const {
  uint64_t size = 0;
  try {
    size = live_.content(at.node).size();
  } catch (const Error&) {
    // Opening it says why.
  }
  Entry file = file_entry(Layout::inode(at), size, live_.changed_at(), ownership_);
  if (!is_size_lasting()) file.attributes_valid = 0;
  return file;
}

Entry ModelFilesystem::entry_of_tensor_file(Place at) const {
  const uint32_t index = tensor_of(at);
  const Tensor& tensor = model().catalog().tensors()[index];
  const TensorEditPtr edit = sidecar_->edits().find(index);
  const uint64_t inode = Layout::inode(at);
  Entry file =
      file_entry(inode, views_.size(index, at.facet), edit ? edit->at : model().file()->identity().mtime, ownership_);
  if (is_editable(at)) file.attributes.st_mode |= S_IWUSR & ~ownership_.umask;
  // Sizes that may be others at the next look: beside a draft, of strings, of what tells of an edit of shape or text.
  const bool is_varying = at.facet == Facet::payload ? tensor.data_type == string_type : edit != nullptr;
  if (ownership_.writable && (is_varying || drafts_.find(inode))) file.attributes_valid = 0;
  // The JSON may yet have to tell of a problem that only reading the payload shows, and the others of none.
  if (at.facet != Facet::payload && !tensor.entries_counted) file.attributes_valid = 0;
  return file;
}

bool ModelFilesystem::is_absent(Place at) const {
  return at.facet == Facet::document && documents_.is_absent(document_of(at));
}

void ModelFilesystem::list(uint64_t inode, uint64_t offset, const Visit& visit) const {
  const Place folder = folder_at(inode);
  if (offset == 0 && !visit(".", inode, S_IFDIR, 1)) return;
  if (offset <= 1 && !visit("..", Layout::inode(layout_.parent(folder)), S_IFDIR, dots)) return;
  const uint64_t first = std::max(offset, dots) - dots;
  const bool all = layout_.list(folder, first, [&](const std::string& name, Place at, uint64_t next) {
    return is_absent(at) || visit(name, Layout::inode(at), is_folder(at.facet) ? S_IFDIR : S_IFREG, dots + next);
  });
  if (!all) return;
  for (const ScratchFiles::Listed& file : scratch_.list(inode)) {
    const uint64_t at = scratch_offset + file.id;
    if (at >= offset && !visit(file.name, Layout::inode(file.id, Facet::scratch), S_IFREG, at + 1)) return;
  }
}

uint32_t ModelFilesystem::tensor_at(uint64_t inode) const {
  if (is_scratch(inode)) fail(ENODATA, "inode {} has no extended attributes", inode);
  const Place at = place(inode);
  if (at.facet != Facet::payload) fail(ENODATA, "inode {} has no extended attributes", inode);
  return tensor_of(at);
}

std::vector<std::string_view> ModelFilesystem::attribute_names(uint64_t inode) const {
  if (is_scratch(inode) || place(inode).facet != Facet::payload) return {};
  constexpr size_t longest_value = 65536;  // that the kernel takes (XATTR_SIZE_MAX)
  std::vector<std::string_view> names{name_attribute, dtype_attribute, shape_attribute};
  std::erase_if(names, [&](std::string_view name) { return attribute(inode, name).size() > longest_value; });
  if (model().problem(tensor_at(inode)).empty()) names.push_back(hash_attribute);
  return names;
}

size_t ModelFilesystem::attribute_size(uint64_t inode, std::string_view name) const {
  if (name == hash_attribute && model().problem(tensor_at(inode)).empty()) return xxh128_length;
  return attribute(inode, name).size();
}

std::string ModelFilesystem::attribute(uint64_t inode, std::string_view name) const {
  const uint32_t index = tensor_at(inode);
  const Tensor& tensor = model().catalog().tensors()[index];
  if (name == name_attribute) return std::string(tensor.name);
  if (name == dtype_attribute) return std::string(dtype_word(tensor));
  if (name == shape_attribute) return shape_json(tensor, sidecar_->edits().find(index).get());
  if (name == hash_attribute && model().problem(index).empty()) return views_.xxh128(index);
  fail(ENODATA, "there is no extended attribute {}", name);
}

// What is used are the payloads, what is free is free for edits.
struct statvfs ModelFilesystem::statistics() const {
  uint64_t bytes = 0;
  for (const Tensor& tensor : model().catalog().tensors()) {
    const uint64_t size = tensor.broken() ? 0 : tensor.nbytes;
    bytes += std::min(size, UINT64_MAX / 2 - bytes);
  }
  struct statvfs result = {};
  result.f_bsize = result.f_frsize = page;
  result.f_blocks = bytes / page + (bytes % page != 0);
  if (ownership_.writable) {
    const uint64_t room = room_on_disk(edits_disk_) / page;
    result.f_bfree = result.f_bavail = room;
    result.f_blocks += room;
  }
  result.f_files = tree().size();
  result.f_namemax = 255;
  return result;
}

}  // namespace onnxfs
