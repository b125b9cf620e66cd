// Writing the edits of a model into its files.
//
// New files are written beside the old ones under temporary names, flushed, read back and checked; then a journal of
// their final names is put into the sidecar, they are renamed, data files first and the model last, and the sidecar is
// removed. So at each moment the model on disk is whole, old or new; whoever finds a journal can finish the work, and
// temporary files without a journal are remains that the next commit removes. A model that is a symbolic link, or has
// several names (hard links), becomes a file of its own, and a remark says so; the other names keep the old bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/bytes/disk.h"

namespace onnxfs {

// Called now and then with how many bytes are done, of how many. May throw to stop, which leaves all as it was; a
// commit in place that is stopped is then one that was interrupted.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

struct CommitOptions {
  std::string sidecar = {};  // its folder
  std::string output = {};   // a path to write to instead, which leaves the model and its sidecar as they are; or ""
  bool in_place = false;     // patch the existing files
  Progress progress = {};    // may be empty
};

struct CommitReport {
  size_t edits = 0;                  // how many tensors had some
  std::vector<std::string> written;  // paths of the files that are new or were patched
  std::vector<std::string> remarks;  // what a person should know: a data file that got a new name, a commit finished
};

// A commit in place writes a journal that says so, then patches the files, and removes the sidecar. Whoever finds that
// journal patches them again: the sidecar is the redo log.
//
// Commits the model at `model_path`, or finishes a commit of it that was interrupted. Without edits it writes nothing,
// but for an `output`, which is then a copy. Throws Error, and leaves the model and the edits as they were:
//  EBUSY   a process is writing the edits; the sentence names it (the mount point). Or it is writing the same files
//  EINPROGRESS  an interrupted commit is to be finished first, and not into another output
//  ENOSPC  not enough room, found out before anything is written where the file system tells
//  EINVAL  in_place is not possible: an edit changes a size, or a file has several names or is reached by a link
//  EEXIST  the output is there already, or appeared in the meantime
//  EIO     what was read back is not what was written
// and what Sidecar::open throws.
CommitReport commit(const std::string& model_path, const CommitOptions& options, Disk& disk = Disk::real());

}  // namespace onnxfs
