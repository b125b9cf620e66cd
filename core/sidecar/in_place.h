#pragma once

#include <string>
#include <vector>

#include "core/bytes/disk.h"
#include "core/bytes/patch.h"
#include "core/onnx/edit.h"
#include "core/onnx/model.h"
#include "core/sidecar/commit.h"
#include "core/sidecar/journal.h"
#include "core/sidecar/sidecar.h"

namespace onnxfs {

// Edits as patches of the files that a model has: what a commit in place does. The cost is that of the patches, besides
// one look at the other models in the folder. One thread.
class InPlaceCommit {
 public:
  // Writes nothing. Throws Error(EINVAL) when the edits change a size or the structure of the file, or when somebody
  // else would see a file change: it has several names, is reached by a link, or another model uses it. When resuming,
  // files may be half patched, and whoever came to use them since is better served by whole ones.
  InPlaceCommit(const Model& model, const Edits& edits, Opening opening);

  // The files that are patched, with paths beneath the model's folder.
  std::vector<Journal::File> journal_files() const;

  // Patches them, flushes them, and reads the patches back. It may be done again from the start, at any time. Returns
  // their paths. Throws Error: ESTALE when a file is another than the model has, EIO when bytes that were read back are
  // others, and as the disk and `progress` do.
  std::vector<std::string> run(const Progress& progress, Disk& disk);

  // Whether anything may have been written.
  bool has_begun() const noexcept { return has_begun_; }

 private:
  struct File {
    std::string location;
    std::shared_ptr<const FileSource> source;
    std::vector<Patch> patches;
  };

  std::string path_of(const File& file) const;
  void patch(const File& file, const Progress& progress, Disk& disk);
  uint64_t size() const;

  std::string folder_;
  std::vector<File> files_;
  uint64_t done_ = 0;
  bool has_begun_ = false;
};

}  // namespace onnxfs
