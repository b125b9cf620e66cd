// A model's mount as a file system, without a kernel: what is where, what it looks like, what it holds.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/rope.h"
#include "core/onnx/model.h"
#include "fs/tree.h"

namespace onnxfs {

// Who owns the files of a mount, and which permission bits are taken off them.
struct Ownership {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t umask = 0;
};

// A file or folder as it is told to the kernel, and for how many seconds that may be believed.
struct Entry {
  struct stat attributes = {};
  double attributes_valid = 0;
  double name_valid = 0;
};

// A name that is not there, and for how long that may be believed.
struct Absence {
  double valid = 0;
};

// A file that was opened: a snapshot of its content.
struct OpenFile {
  Rope content;
  bool keep_cache = true;  // what the kernel has cached of it is still true
  bool direct = false;     // made anew at each open; its size may not be what was last told
};

// Inode numbers are computed: the tree's node, and which of the files or folders that show it. So they are the same on
// each mount of the same file, and further views of the same tree need no nodes of their own.
//
// Read-only. Any number of threads may use one. Errors are thrown as Error.
class Filesystem {
 public:
  // `status` gives the content of .onnxfs/status.json, made anew for each open.
  Filesystem(std::shared_ptr<const Model> model, Ownership ownership, std::function<std::string()> status);

  static constexpr uint64_t root_inode = 1;

  // ENOENT as an Absence; ENOTDIR.
  Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const;
  Entry entry(uint64_t inode) const;  // ENOENT for a number that was never told

  // EROFS to write, EIO for a broken tensor, ESTALE when the file behind it changed, EISDIR.
  std::unique_ptr<OpenFile> open(uint64_t inode, int flags) const;

  // Calls visit(name, inode, type, next) for the entries of a folder from `offset` on, until it returns false: "." and
  // ".." first, then in file order. `next` is the offset of what follows. Entries have the same offsets at any time.
  // The type is that of the inode's mode. A list that changed has another modification time. ENOTDIR.
  using Visit = std::function<bool(const std::string& name, uint64_t inode, mode_t type, uint64_t next)>;
  void list(uint64_t folder, uint64_t offset, const Visit& visit) const;

  // Extended attributes, of .bin files only. `size_of_attribute` does not compute what is dear. ENODATA.
  std::vector<std::string_view> attribute_names(uint64_t inode) const;
  size_t attribute_size(uint64_t inode, std::string_view name) const;
  std::string attribute(uint64_t inode, std::string_view name) const;

  struct statvfs statistics() const;

  const Model& model() const noexcept { return *model_; }
  const Tree& tree() const noexcept { return tree_; }

 private:
  // Which file or folder of a node an inode is: the lowest byte of its number.
  enum class Facet : uint8_t { folder = 1, payload = 2, json = 3, document = 4 };
  struct Place {
    uint32_t node;
    Facet facet;
  };
  struct TensorFile {
    std::string_view suffix;
    Facet facet;
  };
  static constexpr std::array<TensorFile, 2> tensor_files{{{".bin", Facet::payload}, {".json", Facet::json}}};

  // Of a document that does not change: its size once known, and its content while someone has it open.
  struct Made {
    std::mutex mutex;
    std::optional<uint64_t> size;
    std::weak_ptr<const Rope> content;
  };

  static uint64_t number(uint32_t node, Facet facet) noexcept;
  Place place(uint64_t inode) const;
  const Node& folder_at(uint64_t inode) const;
  uint32_t tensor_at(uint64_t inode) const;

  Entry entry_of(Place place) const;
  bool is_absent(uint32_t node) const;  // a document that says nothing now
  uint64_t size_of(Place place) const;
  uint64_t document_size(Document document) const;
  std::shared_ptr<const Rope> document(Document document) const;
  std::string make(Document document) const;
  std::string json_of(uint32_t tensor) const;

  std::shared_ptr<const Model> model_;
  Tree tree_;
  Ownership ownership_;
  std::function<std::string()> status_;
  mutable std::array<Made, 3> made_;  // model.json, index.tsv, graph.txt
};

}  // namespace onnxfs
