// Which tensors of a model stand in it, and which in data files beside it, when it is written anew.
//
// To data files go tensors of at least so many bytes, whichever field held them:
//  * initializers of the main graph and of graphs nested in it; with `attributes`, also the tensors in attributes of
//    nodes there, and in those of a function's own nodes. That is where python's onnx and ONNX Runtime look for them.
//  * whatever was external in other places (sparse tensors, training graphs, defaults of functions), as it was
// Into the model goes what is smaller. There always stand
//  * strings, which cannot be external; plain lists of attributes; what has no elements, or an unknown type
//  * integers of less than 1024 bytes, and anything of less than 128: shapes, axes, scales, whose values are needed
//    for shape inference, which does not read data files
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"

namespace onnxfs {

struct ExportOptions {
  bool all_in_model = false;       // no data files; the rest says nothing then
  uint64_t size_threshold = 1024;  // in bytes
  bool attributes = false;
  uint64_t alignment = 0;  // of offsets in data files, a power of two; 0: 4096, and of what is over 1 MiB 65536
};

// Where the data of a tensor go. Plain values.
struct Move {
  std::string location;  // of the data file; "" when they go into the model
  uint64_t offset = 0;   // in that
  Rope payload;
};
using Moves = std::map<uint32_t, Move>;  // by tensor; those that stay in the model as they are are not in it

struct ExportPlan {
  struct DataFile {
    std::string location;
    Rope content;  // payloads in file order, zeros between them
  };

  Moves moves;
  std::vector<DataFile> data_files;
  uint64_t moved_tensors = 0;  // into data files
};

// The location of the data file for a tensor; those of one location stand in one file.
using LocationOf = std::function<std::string(uint32_t tensor)>;

// Throws Error(EIO) for a model with a broken tensor, with its name and the reason, as far as known.
void require_sound(const Model& model);

// For a model with its edits. Tensors that share their bytes go on sharing them. Payloads are not read, but for typed
// fields, whose entries are counted. Throws Error as require_sound and Model::payload do.
ExportPlan plan_export(const Model& model, const Edits& edits, const ExportOptions& options,
                       const LocationOf& location_of);

// The model's file by that plan: ranges of the original, but for what was moved or edited. Fields that no reader knows
// stay, and so does the order of all. Throws Error as live_model does.
Rope exported_model(const Model& model, const Edits& edits, const ExportPlan& plan);

}  // namespace onnxfs
