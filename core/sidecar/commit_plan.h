// Which files a commit writes, what is in them, and what they are called.
//
// An edited data file is replaced under its own name, unless somebody else would see that, or it is not reached from
// the model's folder alone; then its tensors get a new file in that folder, and the model says so. Its name is the
// model's with ".data", in letters that every reader takes for a plain file name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/bytes/file_source.h"
#include "core/views/export_plan.h"
#include "core/views/live_model.h"

namespace onnxfs {

// Protobuf's readers take no model of more bytes.
inline constexpr uint64_t largest_readable = 0x7fff'ffff;

// A plain value. Files that stay as they are are not in it.
struct CommitPlan {
  struct File {
    std::string path;  // absolute
    Rope content;
    std::shared_ptr<const FileSource> like;  // what it takes the place of, or is a copy of
  };

  std::vector<File> data_files;
  std::optional<File> model;
  Relocations relocations = {};  // that `model` has in it
  Moves moves = {};              // likewise, of a model that is exported
  // Data files that are there as they are to be, held until the model is in place (finished_file.h).
  std::vector<std::shared_ptr<const FileSource>> finished = {};
  std::vector<std::string> remarks = {};
  std::string if_no_room = "make room, or write to another place";  // what to do then

  uint64_t size() const;
};

// Into the model's own files, under the path that it was opened by. Throws Error as live_model does.
CommitPlan plan_commit(const Model& model, const Edits& edits);

// Into a new model at `output`, an absolute path, and data files beside it. A file that is there already with the right
// bytes is taken as it is; to find that out, those of the right size are read.
CommitPlan plan_output(const Model& model, const Edits& edits, const std::string& output);

}  // namespace onnxfs
