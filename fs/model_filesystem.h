#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "core/onnx/model.h"
#include "fs/filesystem.h"
#include "fs/tree.h"

namespace onnxfs {

// The mount of one model: the image of its Tree, with the documents that describe it.
//
// Inode numbers are computed: the tree's node, and which of the files or folders that show it. So they are the same on
// each mount of the same file, and further views of the same tree need no nodes of their own. They fit in 40 bits.
// Extended attributes are those of .bin files.
class ModelFilesystem final : public Filesystem {
 public:
  // `status` gives the content of .onnxfs/status.json, made anew for each open; without it there is none, as in a
  // folder of models, which has one of its own.
  ModelFilesystem(std::shared_ptr<const Model> model, Ownership ownership, std::function<std::string()> status);

  Entry lookup(uint64_t folder, std::string_view name, std::optional<Absence>& absence) const override;
  Entry entry(uint64_t inode) const override;
  std::unique_ptr<OpenFile> open(uint64_t inode, int flags) const override;
  void list(uint64_t folder, uint64_t offset, const Visit& visit) const override;
  std::vector<std::string_view> attribute_names(uint64_t inode) const override;
  size_t attribute_size(uint64_t inode, std::string_view name) const override;
  std::string attribute(uint64_t inode, std::string_view name) const override;
  struct statvfs statistics() const override;

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
  static bool is_facet_of(const Node& node, Facet facet) noexcept;
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
