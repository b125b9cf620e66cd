#pragma once

#include <array>
#include <memory>

#include "core/sidecar/sidecar.h"
#include "fs/documents.h"
#include "fs/draft.h"
#include "fs/editable_file.h"
#include "fs/filesystem.h"
#include "fs/scratch_files.h"
#include "fs/stale_inodes.h"
#include "fs/tree.h"

namespace onnxfs {

// The mount of one model with its edits: the image of its Tree, with the documents that describe it.
//
// Inode numbers are computed: the tree's node, and which of the files or folders that show it. So they are the same on
// each mount of the same file, and further views of the same tree need no nodes of their own. They fit in 40 bits.
// Extended attributes are those of .bin files.
//
// What was edited through one file is told to the kernel of all others that show it (watch).
class ModelFilesystem final : public Filesystem {
 public:
  // `status` gives the content of .onnxfs/status.json; without it there is no .onnxfs, as in a folder of models, which
  // has one of its own. Files can be written if `ownership` says so.
  ModelFilesystem(std::shared_ptr<Sidecar> sidecar, Ownership ownership, std::function<std::string()> status);

  Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const override;
  Entry entry(uint64_t inode) const override;
  std::unique_ptr<OpenFile> open(uint64_t inode, int flags) const override;
  void list(uint64_t folder, uint64_t offset, const Visit& visit) const override;
  std::vector<std::string_view> attribute_names(uint64_t inode) const override;
  size_t attribute_size(uint64_t inode, std::string_view name) const override;
  std::string attribute(uint64_t inode, std::string_view name) const override;
  struct statvfs statistics() const override;

  // Files can be made in folders that have tensors (ScratchFiles), and renamed over what such a tensor shows.
  Created create(uint64_t folder, std::string_view name, mode_t mode, int flags) override;
  void resize(uint64_t inode, uint64_t size) override;
  void change_attributes(uint64_t inode, const AttributeChange& change) override;
  void rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name,
              bool replaces) override;
  void remove(uint64_t folder, std::string_view name) override;
  void flush() override { sidecar_->flush(); }
  void tidy() noexcept override;
  void watch(Watcher watcher) override { watcher_ = std::move(watcher); }

  const Model& model() const noexcept { return sidecar_->model(); }
  const Tree& tree() const noexcept { return tree_; }

 private:
  // Which file or folder of a node an inode is: the lowest byte of its number. Scratch files have no nodes; above it
  // stands their id.
  enum class Facet : uint8_t { folder = 1, payload = 2, json = 3, document = 4, scratch = 5 };
  struct Place {
    uint32_t node;
    Facet facet;
  };
  struct TensorFile {
    std::string_view suffix;
    Facet facet;
  };
  static constexpr std::array<TensorFile, 2> tensor_files{{{".bin", Facet::payload}, {".json", Facet::json}}};

  static uint64_t number(uint64_t node, Facet facet) noexcept;
  static bool is_facet_of(const Node& node, Facet facet) noexcept;
  static bool is_scratch(uint64_t inode) noexcept;
  Place place(uint64_t inode) const;
  uint32_t folder_at(uint64_t inode) const;
  uint32_t tensor_at(uint64_t inode) const;
  std::optional<Place> find(uint32_t folder, std::string_view name) const;  // of what is always there

  Entry entry_of(Place place) const;
  Entry entry_of(const ScratchFile& file) const;
  void describe_tensor_file(Place place, Entry& file) const;
  bool is_absent(uint32_t node) const;  // a document that says nothing now
  uint64_t size_of(Place place) const;
  std::string json_of(uint32_t tensor) const;

  std::unique_ptr<OpenFile> open_payload(Place place, bool to_write) const;
  std::unique_ptr<OpenFile> open_json(Place place, bool to_write) const;
  std::unique_ptr<OpenFile> open_editable(Place place, std::unique_ptr<Editable> target) const;
  std::unique_ptr<OpenFile> open_scratch(uint64_t id, int flags) const;
  std::unique_ptr<Editable> editable(Place place) const;

  // Whether a tensor, or its JSON, can be written; EROFS with the reason.
  bool is_editable(Place place) const;
  void require_editable(Place place) const;

  bool takes_scratch_files(uint32_t folder) const;

  // A file was changed: in place through itself, or by something that took its place.
  void note_change(Place place, bool is_replaced) const;
  void note_stale(uint64_t inode, Facet facet) const;

  std::shared_ptr<Sidecar> sidecar_;
  Tree tree_;
  Ownership ownership_;
  Documents documents_;
  Watcher watcher_{[](uint64_t) {}, [] {}};
  mutable Drafts drafts_;
  mutable StaleInodes stale_;
  ScratchFiles scratch_;
};

}  // namespace onnxfs
