#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/sidecar/commit.h"
#include "core/sidecar/commit_plan.h"
#include "core/sidecar/journal.h"
#include "core/sidecar/temporary_file.h"

namespace onnxfs {

// The files of a plan under temporary names: written, flushed and checked. They vanish with the object, unless they are
// put in place, or left to who finds the journal. One thread.
class FileSet {
 public:
  // Throws Error(ENOSPC) before anything is written, where the file system says how much room there is; EIO when what
  // was read back is not what the plan says; and as TemporaryFile, the disk, `progress`, and reading do.
  FileSet(const CommitPlan& plan, const Model& model, const Edits& edits, const Progress& progress, Disk& disk);

  // What is to be renamed, with paths beneath `folder`.
  std::vector<Journal::File> journal_files(const std::string& folder) const;

  // Data files first, the model last; durable when it returns. Returns the paths.
  std::vector<std::string> replace();

  // The same, where nothing was before: EEXIST when something is there by now. When it fails, what was put in place is
  // removed again, and nothing else.
  std::vector<std::string> put_in_place_or_none();

  void leave() noexcept;
  bool any_in_place() const;

 private:
  void remove_remains_of_finished(const CommitPlan& plan);
  void add(const CommitPlan::File& file, const Progress& progress, uint64_t total);
  std::vector<std::string> put_all(void (TemporaryFile::*put)());

  Disk& disk_;
  Inodes inputs_;
  std::vector<std::unique_ptr<TemporaryFile>> files_;
  uint64_t written_ = 0;
};

// Throws Error(EEXIST) when there is something, where a new file is to be.
void require_free(const std::string& path);

// Flushes the folders that the files are in, each once.
void flush_folders_of(const std::vector<std::string>& paths, Disk& disk);

}  // namespace onnxfs
