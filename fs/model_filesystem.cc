#include "fs/model_filesystem.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/views/digest.h"
#include "core/views/graph_txt.h"
#include "core/views/listing.h"
#include "core/views/model_json.h"
#include "core/views/tensor_json.h"

namespace onnxfs {

namespace {

constexpr uint64_t page = 4096;

constexpr std::string_view name_attribute = "user.onnx.name";
constexpr std::string_view dtype_attribute = "user.onnx.dtype";
constexpr std::string_view shape_attribute = "user.onnx.shape";
constexpr std::string_view hash_attribute = "user.onnx.xxh128";

// Made anew each time they are asked for, since they tell of the mount and not of the file.
bool changes(Document document) { return document == Document::problems_txt || document == Document::status_json; }

}  // namespace

ModelFilesystem::ModelFilesystem(std::shared_ptr<const Model> model, Ownership ownership,
                                 std::function<std::string()> status)
    : model_(std::move(model)),
      tree_(model_->catalog(), static_cast<bool>(status)),
      ownership_(ownership),
      status_(std::move(status)) {}

uint64_t ModelFilesystem::number(uint32_t node, Facet facet) noexcept {
  return uint64_t{node} << 8 | static_cast<uint8_t>(facet);
}

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

const Node& ModelFilesystem::folder_at(uint64_t inode) const {
  const Place at = place(inode);
  if (at.facet != Facet::folder) fail(ENOTDIR, "inode {} is no folder", inode);
  return tree_.node(at.node);
}

Entry ModelFilesystem::lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const {
  folder_at(folder);
  const uint32_t parent = place(folder).node;
  absence.reset();
  if (const auto child = tree_.find_entry(parent, name)) {
    if (!is_absent(*child)) {
      const bool is_folder = tree_.node(*child).kind == Node::Kind::folder;
      return entry_of({*child, is_folder ? Facet::folder : Facet::document});
    }
    absence = Absence{0};
    return {};
  }
  for (const TensorFile& file : tensor_files) {
    if (!name.ends_with(file.suffix)) continue;
    const auto child = tree_.find_tensor(parent, name.substr(0, name.size() - file.suffix.size()));
    if (child) return entry_of({*child, file.facet});
  }
  absence = Absence{lasting};
  return {};
}

Entry ModelFilesystem::entry(uint64_t inode) const { return entry_of(place(inode)); }

Entry ModelFilesystem::entry_of(Place at) const {
  const Node& node = tree_.node(at.node);
  const timespec mtime = model_->file()->identity().mtime;
  const uint64_t inode = number(at.node, at.facet);
  if (at.facet == Facet::folder) {
    Entry folder = folder_entry(inode, 2 + tree_.subfolders(at.node), mtime, ownership_);
    if (at.node == Tree::root) {
      // problems.txt appears in it when reading brings up the first problem; the modification time tells. No shorter
      // than this, since the kernel asks again for each path that it walks from here.
      folder.attributes.st_mtim = folder.attributes.st_ctim = model_->found_late_at().value_or(mtime);
      folder.attributes_valid = seconds_to_notice;
    }
    return folder;
  }
  Entry file = file_entry(inode, size_of(at), mtime, ownership_);
  if (at.facet == Facet::document && changes(static_cast<Document>(node.subject))) {
    file.attributes_valid = file.name_valid = 0;
  }
  // Its JSON may yet have to tell of a problem that only reading the payload shows.
  if (at.facet == Facet::json && !model_->catalog().tensors()[node.subject].entries_counted) file.attributes_valid = 0;
  return file;
}

bool ModelFilesystem::is_absent(uint32_t number) const {
  const Node& node = tree_.node(number);
  return node.kind == Node::Kind::document && static_cast<Document>(node.subject) == Document::problems_txt &&
         !model_->has_findings();
}

uint64_t ModelFilesystem::size_of(Place at) const {
  const uint32_t subject = tree_.node(at.node).subject;
  switch (at.facet) {
    case Facet::payload: return model_->catalog().tensors()[subject].nbytes;
    case Facet::json: return json_of(subject).size();
    case Facet::document: return document_size(static_cast<Document>(subject));
    case Facet::folder: break;
  }
  return 0;
}

// A document that cannot be made is an empty file, whose opening says why: the folder it is in can be listed.
uint64_t ModelFilesystem::document_size(Document wanted) const {
  try {
    if (changes(wanted)) return make(wanted).size();
    Made& made = made_[static_cast<size_t>(wanted)];
    const std::unique_lock lock(made.mutex);
    if (!made.size) made.size = make(wanted).size();
    return *made.size;
  } catch (const Error&) {
    return 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::shared_ptr<const Rope> ModelFilesystem::document(Document wanted) const {
  if (changes(wanted)) return std::make_shared<const Rope>(Rope::of(make(wanted)));
  Made& made = made_[static_cast<size_t>(wanted)];
  const std::unique_lock lock(made.mutex);
  std::shared_ptr<const Rope> content = made.content.lock();
  if (!content) {
    content = std::make_shared<const Rope>(Rope::of(make(wanted)));
    made.size = content->size();
    made.content = content;
  }
  return content;
}

std::string ModelFilesystem::make(Document wanted) const {
  switch (wanted) {
    case Document::model_json: return model_json(*model_);
    case Document::index_tsv: return index_tsv(*model_, tree_.paths_for_listing());
    case Document::graph_txt: return graph_txt(*model_);
    case Document::problems_txt: return problems_txt(*model_, tree_.paths_for_listing());
    case Document::status_json: return status_();
  }
  return {};
}

std::string ModelFilesystem::json_of(uint32_t tensor) const { return tensor_json(*model_, tensor); }

std::unique_ptr<OpenFile> ModelFilesystem::open(uint64_t inode, int flags) const {
  if ((flags & O_ACCMODE) != O_RDONLY) fail(EROFS, "the mount is read-only");
  const Place at = place(inode);
  const uint32_t subject = tree_.node(at.node).subject;
  auto file = std::make_unique<OpenFile>();
  switch (at.facet) {
    case Facet::folder: fail(EISDIR, "inode {} is a folder", inode);
    case Facet::payload:
      file->content = model_->payload(subject);
      // What the kernel has cached would hide a change of the file that it came from.
      file->content.require_current();
      break;
    case Facet::json: {
      const Tensor& tensor = model_->catalog().tensors()[subject];
      if (!tensor.entries_counted) {
        file->keep_cache = false;
        try {
          model_->payload(subject);
        } catch (const Error& error) {
          if (error.code() != EIO) throw;  // the JSON tells of it
        }
      }
      file->content = Rope::of(json_of(subject));
      break;
    }
    case Facet::document:
      file->content = *document(static_cast<Document>(subject));
      file->direct = changes(static_cast<Document>(subject));
      break;
  }
  return file;
}

void ModelFilesystem::list(uint64_t folder, uint64_t offset, const Visit& visit) const {
  const Node& node = folder_at(folder);
  const uint32_t self = place(folder).node;
  constexpr uint64_t dots = 2;
  if (offset == 0 && !visit(".", folder, S_IFDIR, 1)) return;
  if (offset <= 1 && !visit("..", number(node.parent, Facet::folder), S_IFDIR, dots)) return;
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
}

uint32_t ModelFilesystem::tensor_at(uint64_t inode) const {
  const Place at = place(inode);
  if (at.facet != Facet::payload) fail(ENODATA, "inode {} has no extended attributes", inode);
  return tree_.node(at.node).subject;
}

std::vector<std::string_view> ModelFilesystem::attribute_names(uint64_t inode) const {
  if (place(inode).facet != Facet::payload) return {};
  constexpr size_t longest_value = 65536;  // that the kernel takes (XATTR_SIZE_MAX)
  std::vector<std::string_view> names{name_attribute, dtype_attribute, shape_attribute};
  std::erase_if(names, [&](std::string_view name) { return attribute(inode, name).size() > longest_value; });
  if (model_->problem(tensor_at(inode)).empty()) names.push_back(hash_attribute);
  return names;
}

size_t ModelFilesystem::attribute_size(uint64_t inode, std::string_view name) const {
  if (name == hash_attribute && model_->problem(tensor_at(inode)).empty()) return xxh128_length;
  return attribute(inode, name).size();
}

std::string ModelFilesystem::attribute(uint64_t inode, std::string_view name) const {
  const uint32_t index = tensor_at(inode);
  const Tensor& tensor = model_->catalog().tensors()[index];
  if (name == name_attribute) return std::string(tensor.name);
  if (name == dtype_attribute) return std::string(dtype_word(tensor));
  if (name == shape_attribute) return shape_json(tensor);
  if (name == hash_attribute && model_->problem(index).empty()) return xxh128(model_->payload(index));
  fail(ENODATA, "there is no extended attribute {}", name);
}

struct statvfs ModelFilesystem::statistics() const {
  uint64_t bytes = 0;
  for (const Tensor& tensor : model_->catalog().tensors()) {
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
