// Writing a model anew in another arrangement: its tensors in data files, or all in itself, or as one safetensors file.
//
// Files are written as a commit writes them: under temporary names, flushed, read back and compared, and renamed, data
// files first. No file is ever replaced, not even one that appears in the meantime, and the model and its edits stay as
// they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/bytes/disk.h"
#include "core/sidecar/commit.h"
#include "core/views/export_plan.h"
#include "core/views/listing.h"

namespace onnxfs {

struct ExportReport {
  std::string output;  // absolute
  uint64_t output_bytes = 0;
  std::vector<std::string> data_files;  // their paths
  uint64_t data_bytes = 0;              // in them, with the gaps between tensors
  uint64_t moved_tensors = 0;           // that stand there
};

// Writes a model with its edits to `output`, and its data files, whose locations are relative to the folder of that.
// Throws Error, and leaves nothing behind:
//  EINVAL  it is no model but a file of values; a location that readers would refuse (require_portable_location), or
//          that is the output's own, leads out of its folder by a link, or is one that edits or files that are being
//          written have; a node names a file that would not be beside the output
//  EEXIST  the output is there already, or a data file with other bytes than it is to have
//  EBUSY   another process is writing one of them
//  EFBIG   the output would be larger than any reader of protobuf takes (2 GiB)
//  ENOSPC  not enough room, found out before anything is written where the file system tells
//  EIO     a tensor is broken; what was read back is not what was written
// and what `progress`, reading and the disk do.
ExportReport export_model(const Model& model, const Edits& edits, const std::string& output,
                          const ExportOptions& options, const LocationOf& location_of, const Progress& progress,
                          Disk& disk = Disk::real());

// The same for one safetensors file of any model or file of values (safetensors.h).
ExportReport export_safetensors(const std::shared_ptr<const Model>& model, const Edits& edits, const PathOf& path_of,
                                const std::string& output, const Progress& progress, Disk& disk = Disk::real());

}  // namespace onnxfs
