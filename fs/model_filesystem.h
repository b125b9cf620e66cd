#pragma once

#include <memory>
#include <mutex>

#include "core/bytes/unique_fd.h"
#include "core/sidecar/sidecar.h"
#include "fs/documents.h"
#include "fs/draft.h"
#include "fs/editable_file.h"
#include "fs/filesystem.h"
#include "fs/layout.h"
#include "fs/live_files.h"
#include "fs/scratch_files.h"
#include "fs/stale_inodes.h"
#include "fs/tensor_views.h"

namespace onnxfs {

// The mount of one model with its edits: the image of its Layout, with the documents that describe it and the views of
// its tensors. Extended attributes are those of .bin files.
//
// What was edited through one file is told to the kernel of all others that show it (watch).
class ModelFilesystem final : public Filesystem {
 public:
  // `status` gives the content of .onnxfs/status.json; without it there is no .onnxfs, as in a folder of models, which
  // has one of its own. Files can be written if `ownership` says so.
  ModelFilesystem(std::shared_ptr<Sidecar> sidecar, Ownership ownership, StatusText status);

  Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const override;
  Entry entry(uint64_t inode) const override;
  std::unique_ptr<OpenFile> open(uint64_t inode, int flags) const override;
  void list(uint64_t folder, uint64_t offset, const Visit& visit) const override;
  std::vector<std::string_view> attribute_names(uint64_t inode) const override;
  size_t attribute_size(uint64_t inode, std::string_view name) const override;
  std::string attribute(uint64_t inode, std::string_view name) const override;
  struct statvfs statistics() const override;

  // Files can be made in folders that have tensors (ScratchFiles), and renamed over what shows such a tensor.
  Created create(uint64_t folder, std::string_view name, mode_t mode, int flags) override;
  void resize(uint64_t inode, uint64_t size) override;
  void change_attributes(uint64_t inode, const AttributeChange& change) override;
  void rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name,
              bool replaces) override;
  void remove(uint64_t folder, std::string_view name) override;
  void flush() override { sidecar_->flush(); }
  bool is_at_rest() const override { return scratch_.empty(); }
  std::vector<std::string> scratch_files() const override;
  uint64_t memory() const override;
  std::vector<uint32_t> edited() const override;
  void doubt(const std::vector<uint32_t>& tensors) const override;
  void tidy() noexcept override;
  void watch(const Watcher& watcher) override {
    watcher_ = watcher;
    sidecar_->when_untidy(watcher_.untidy);
  }

  const Model& model() const noexcept { return sidecar_->model(); }
  const Tree& tree() const noexcept { return layout_.tree(); }

 private:
  static bool is_scratch(uint64_t inode) noexcept { return Layout::facet_of(inode) == Facet::scratch; }
  Place place(uint64_t inode) const;
  Place folder_at(uint64_t inode) const;
  uint32_t tensor_at(uint64_t inode) const;
  uint32_t tensor_of(Place place) const { return tree().node(place.node).subject; }
  Document document_of(Place place) const { return static_cast<Document>(tree().node(place.node).subject); }
  std::string path_of(Place place) const;  // for messages

  Entry entry_of(Place place) const;
  Entry entry_of(const ScratchFile& file) const;
  Entry entry_of_folder(Place place) const;
  Entry entry_of_document(Place place) const;
  Entry entry_of_tensor_file(Place place) const;
  Entry entry_of_live_file(Place place) const;
  bool is_absent(Place place) const;  // a document that says nothing now

  std::unique_ptr<OpenFile> open_document(Place place) const;
  std::unique_ptr<OpenFile> open_live_file(Place place) const;
  std::unique_ptr<OpenFile> open_tensor_file(Place place, bool to_write) const;
  std::unique_ptr<OpenFile> open_editable(Place place) const;
  std::unique_ptr<OpenFile> open_scratch(uint64_t id, int flags) const;
  std::unique_ptr<Editable> editable(Place place) const;

  // Whether a file can be written; EROFS with the reason.
  bool is_editable(Place place) const;
  void require_editable(Place place) const;

  bool takes_scratch_files(Place folder) const;
  void require_scratch_name(Place folder, std::string_view name) const;

  // A file was changed: in place through itself, or by something that took its place.
  void note_change(Place place, bool is_replaced) const;
  void note_stale(Place place) const;
  void note_first_change() const;

  // Whether the kernel may believe the size of what follows the edits: until there is one.
  bool is_size_lasting() const { return !ownership_.writable || sidecar_->edits().version() == 0; }

  std::shared_ptr<Sidecar> sidecar_;
  Ownership ownership_;
  Layout layout_;
  TensorViews views_;
  Documents documents_;
  LiveFiles live_;
  const std::vector<Place> following_documents_;  // whose content edits change
  Watcher watcher_;
  mutable std::once_flag first_change_;
  mutable Drafts drafts_;
  mutable StaleInodes stale_;
  ScratchFiles scratch_;
  UniqueFd edits_disk_;  // a folder on it, opened before the mount can hide it
};

}  // namespace onnxfs
