#include "fs/model_filesystem.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/views/digest.h"
#include "core/views/tensor_json.h"

namespace onnxfs {

namespace {

constexpr uint64_t page = 4096;

constexpr std::string_view name_attribute = "user.onnx.name";
constexpr std::string_view dtype_attribute = "user.onnx.dtype";
constexpr std::string_view shape_attribute = "user.onnx.shape";
constexpr std::string_view hash_attribute = "user.onnx.xxh128";

// Scratch files are listed after all that is always there.
constexpr uint64_t scratch_offset = uint64_t{1} << 40;

}  // namespace

ModelFilesystem::ModelFilesystem(std::shared_ptr<Sidecar> sidecar, Ownership ownership,
                                 std::function<std::string()> status)
    : sidecar_(std::move(sidecar)),
      tree_(model().catalog(), static_cast<bool>(status)),
      ownership_(ownership),
      documents_(sidecar_, tree_, std::move(status)) {}

uint64_t ModelFilesystem::number(uint64_t node, Facet facet) noexcept {
  return node << 8 | static_cast<uint8_t>(facet);
}

bool ModelFilesystem::is_scratch(uint64_t inode) noexcept { return static_cast<Facet>(inode & 0xff) == Facet::scratch; }

bool ModelFilesystem::is_facet_of(const Node& node, Facet facet) noexcept {
  switch (node.kind) {
    case Node::Kind::folder: return facet == Facet::folder;
    case Node::Kind::document: return facet == Facet::document;
    case Node::Kind::tensor: return std::ranges::find(tensor_files, facet, &TensorFile::facet) != tensor_files.end();
  }
  return false;
}

ModelFilesystem::Place ModelFilesystem::place(uint64_t inode) const {
  const uint64_t node = inode >> 8;
  const auto facet = static_cast<Facet>(inode & 0xff);
  if (node >= tree_.size() || !is_facet_of(tree_.node(static_cast<uint32_t>(node)), facet)) {
    fail(ENOENT, "inode {} does not exist", inode);
  }
  return {static_cast<uint32_t>(node), facet};
}

uint32_t ModelFilesystem::folder_at(uint64_t inode) const {
  if (is_scratch(inode)) fail(ENOTDIR, "inode {} is no folder", inode);
  const Place at = place(inode);
  if (at.facet != Facet::folder) fail(ENOTDIR, "inode {} is no folder", inode);
  return at.node;
}

std::optional<ModelFilesystem::Place> ModelFilesystem::find(uint32_t folder, std::string_view name) const {
  if (const auto child = tree_.find_entry(folder, name)) {
    return Place{*child, tree_.node(*child).kind == Node::Kind::folder ? Facet::folder : Facet::document};
  }
  for (const TensorFile& file : tensor_files) {
    if (!name.ends_with(file.suffix)) continue;
    const auto child = tree_.find_tensor(folder, name.substr(0, name.size() - file.suffix.size()));
    if (child) return Place{*child, file.facet};
  }
  return std::nullopt;
}

Entry ModelFilesystem::lookup(uint64_t inode, std::string_view name, std::optional<Absence>& absence) const {
  const uint32_t folder = folder_at(inode);
  absence.reset();
  if (const auto found = find(folder, name)) {
    if (!is_absent(found->node)) return entry_of(*found);
    absence = Absence{0};
    return {};
  }
  if (const auto file = scratch_.find(folder, name)) return entry_of(*file);
  absence = Absence{lasting};
  return {};
}

Entry ModelFilesystem::entry(uint64_t inode) const {
  if (!is_scratch(inode)) return entry_of(place(inode));
  const auto file = scratch_.find(inode >> 8);
  if (!file) fail(ENOENT, "the file was removed");
  return entry_of(*file);
}

// Nothing of it may be believed for a moment: it may be renamed over a tensor.
Entry ModelFilesystem::entry_of(const ScratchFile& scratch) const {
  Entry file =
      file_entry(number(scratch.id, Facet::scratch), scratch.stage->content().size(), scratch.mtime, ownership_);
  file.attributes.st_mode = S_IFREG | scratch.mode;
  file.attributes.st_uid = scratch.uid;
  file.attributes.st_gid = scratch.gid;
  file.attributes_valid = file.name_valid = 0;
  return file;
}

Entry ModelFilesystem::entry_of(Place at) const {
  const Node& node = tree_.node(at.node);
  const timespec mtime = model().file()->identity().mtime;
  const uint64_t inode = number(at.node, at.facet);
  if (at.facet == Facet::folder) {
    Entry folder = folder_entry(inode, 2 + tree_.subfolders(at.node), mtime, ownership_);
    if (at.node == Tree::root) {
      // problems.txt appears in it when reading brings up the first problem; the modification time tells. No shorter
      // than this, since the kernel asks again for each path that it walks from here.
      folder.attributes.st_mtim = folder.attributes.st_ctim = model().found_late_at().value_or(mtime);
      folder.attributes_valid = seconds_to_notice;
    }
    return folder;
  }
  Entry file = file_entry(inode, size_of(at), mtime, ownership_);
  if (at.facet == Facet::document) {
    const auto document = static_cast<Document>(node.subject);
    if (Documents::is_momentary(document)) file.attributes_valid = file.name_valid = 0;
    if (Documents::follows_edits(document) && ownership_.writable) file.attributes_valid = 0;
  } else {
    describe_tensor_file(at, file);
  }
  return file;
}

void ModelFilesystem::describe_tensor_file(Place at, Entry& file) const {
  const uint32_t index = tree_.node(at.node).subject;
  const Tensor& tensor = model().catalog().tensors()[index];
  const TensorEditPtr edit = sidecar_->edits().find(index);
  if (edit) file.attributes.st_mtim = file.attributes.st_ctim = edit->at;
  if (is_editable(at)) {
    file.attributes.st_mode |= S_IWUSR & ~ownership_.umask;
    // Sizes that may be others at the next look: of a draft, of strings, of a JSON that tells of an edit.
    const bool is_varying = at.facet == Facet::json ? edit != nullptr : tensor.data_type == string_type;
    if (is_varying || drafts_.find(file.attributes.st_ino)) file.attributes_valid = 0;
  }
  // Its JSON may yet have to tell of a problem that only reading the payload shows.
  if (at.facet == Facet::json && !tensor.entries_counted) file.attributes_valid = 0;
}

bool ModelFilesystem::is_absent(uint32_t number) const {
  const Node& node = tree_.node(number);
  return node.kind == Node::Kind::document && documents_.is_absent(static_cast<Document>(node.subject));
}

uint64_t ModelFilesystem::size_of(Place at) const {
  const uint32_t subject = tree_.node(at.node).subject;
  if (at.facet == Facet::document) return documents_.size(static_cast<Document>(subject));
  if (const auto draft = drafts_.find(number(at.node, at.facet)); draft && draft->visible())
    return draft->content().size();
  if (at.facet == Facet::json) return json_of(subject).size();
  return payload_size(model().catalog().tensors()[subject], sidecar_->edits().find(subject).get());
}

std::string ModelFilesystem::json_of(uint32_t tensor) const {
  return tensor_json(model(), tensor, sidecar_->edits().find(tensor).get());
}

void ModelFilesystem::list(uint64_t folder, uint64_t offset, const Visit& visit) const {
  const uint32_t self = folder_at(folder);
  constexpr uint64_t dots = 2;
  if (offset == 0 && !visit(".", folder, S_IFDIR, 1)) return;
  if (offset <= 1 && !visit("..", number(tree_.node(self).parent, Facet::folder), S_IFDIR, dots)) return;
  // Each child has a slot for every file that a tensor may have; folders and documents use the first of them.
  const auto children = tree_.children(self);
  for (uint64_t slot = std::max(offset, dots) - dots; slot < children.size() * tensor_files.size(); ++slot) {
    const uint32_t child = children[slot / tensor_files.size()];
    const Node& entry = tree_.node(child);
    const TensorFile& file = tensor_files[slot % tensor_files.size()];
    const bool is_first = slot % tensor_files.size() == 0;
    std::string name(entry.name);
    Facet facet = file.facet;
    if (entry.kind == Node::Kind::tensor) {
      name += file.suffix;
    } else {
      if (!is_first || is_absent(child)) continue;
      facet = entry.kind == Node::Kind::folder ? Facet::folder : Facet::document;
    }
    const mode_t type = facet == Facet::folder ? S_IFDIR : S_IFREG;
    if (!visit(name, number(child, facet), type, dots + slot + 1)) return;
  }
  for (const ScratchFiles::Listed& file : scratch_.list(self)) {
    const uint64_t place = scratch_offset + file.id;
    if (place >= offset && !visit(file.name, number(file.id, Facet::scratch), S_IFREG, place + 1)) return;
  }
}

uint32_t ModelFilesystem::tensor_at(uint64_t inode) const {
  if (is_scratch(inode)) fail(ENODATA, "inode {} has no extended attributes", inode);
  const Place at = place(inode);
  if (at.facet != Facet::payload) fail(ENODATA, "inode {} has no extended attributes", inode);
  return tree_.node(at.node).subject;
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
  if (name == hash_attribute && model().problem(index).empty()) return xxh128(sidecar_->payload(index));
  fail(ENODATA, "there is no extended attribute {}", name);
}

struct statvfs ModelFilesystem::statistics() const {
  uint64_t bytes = 0;
  for (const Tensor& tensor : model().catalog().tensors()) {
    const uint64_t size = tensor.broken() ? 0 : tensor.nbytes;
    bytes += std::min(size, UINT64_MAX / 2 - bytes);
  }
  struct statvfs result = {};
  result.f_bsize = result.f_frsize = page;
  result.f_blocks = bytes / page + (bytes % page != 0);
  result.f_files = tree_.size();
  result.f_namemax = 255;
  return result;
}

}  // namespace onnxfs
