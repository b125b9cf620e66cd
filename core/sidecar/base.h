#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/bytes/disk.h"
#include "core/onnx/model.h"

namespace onnxfs {

// Which files the edits of a sidecar are of: its base.json.
//
//   { "format": 1, "log": "hexadecimal id of the log", "model": "file name", "size": 123, "mtime": nanoseconds since
//     1970, "structure": "XXH128 of what is no payload", "data_files": [{"location": "w.bin", "size": 1, "mtime": 2}],
//     "durable": 7, "checksum": "XXH3-64 of this object without its checksum, as written without spaces" }
//
// data_files are those that have edits. All records up to the number `durable` were durable when the log was last
// closed; as numbers only grow, that stays true, and tells of blobs that are missing. A plain value.
struct Base {
  struct FileState {
    uint64_t size = 0;
    int64_t mtime = 0;

    static FileState of(const FileIdentity& identity);
  };

  // Files whose size is as it was, and whose time or name is not: whether their bytes are is to be found out.
  struct Doubts {
    bool model = false;
    std::set<uint32_t> data_files;  // by their index in the catalog

    bool any() const { return model || !data_files.empty(); }
    bool of(const Tensor& tensor) const;
  };

  uint64_t log_id = 0;
  std::string model_name;
  FileState model;
  std::string structure;
  std::map<std::string, FileState> data_files;  // by location
  uint64_t durable = 0;

  // Of a model without edits, for a new log. Reads what is no payload.
  static Base of(const Model& model);

  // Nothing when there is none. EBADMSG when it is damaged, ENOTSUP when it is of another version.
  static std::optional<Base> read(const std::string& folder);
  // Durable when it returns; the one before stays whole until then.
  void write(const std::string& folder, Disk& disk) const;
  // After a power cut, there is this one, or the one before. One flush less.
  void write_lazily(const std::string& folder, Disk& disk) const;
  static std::string temporary_path(const std::string& folder);

  // ESTALE when the model is another one.
  Doubts require_same(const Model& model, const std::string& folder) const;

  // Names a data file that gets its first edit. Returns false when it is named already.
  bool add(const DataFile& file);

  // Takes over the times and the name that the model's files have now.
  void refresh(const Model& model);
};

// The XXH128 of all that is in the model file but the payloads that stand there in one piece.
std::string structure_hash(const Model& model);

}  // namespace onnxfs
