#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/file_source.h"
#include "core/bytes/unique_fd.h"

namespace onnxfs {

// A file that external data stands in, or why it may not be read. `location` is the normalised one.
struct DataFile {
  std::string location;
  std::shared_ptr<const FileSource> source;  // null when refused
  std::string refusal;
};

// A location of external data as a path beneath a folder: "./a//sub/../w.bin" is "a/w.bin". Lexical, since what it
// means must not depend on what exists. Throws Error(EACCES) for what may not be followed: an empty or absolute
// location, one with a NUL or a trailing slash, one that climbs out, and the names by which some runtimes mean memory.
std::string normalise_location(std::string_view location);

// Opens the data files of one model, each once, and keeps their descriptors.
//
// A file is served only if it lies beneath the folder of the path that the model was opened by, or beneath that of
// the path's target (a download cache links models and their data into a folder of blobs). Links are followed where
// they stay beneath one of the two. The kernel proves it at open (openat2), so no swap of a file for a link can lead
// out. Only regular files are opened; nothing blocks. No mount of onnxfs beneath the folder is entered.
//
// One thread at a time; what it has opened may then be read by any number.
class DataFiles {
 public:
  // The two folders; the second may be "". They stay open. Throws Error as open(2) does.
  DataFiles(const std::string& folder, const std::string& target_folder);
  static DataFiles beside(const std::string& model_path);

  // The index in `files()` of the file at a location. Throws Error(EACCES) as normalise_location does; a file that
  // cannot be opened is in the list with its refusal.
  uint32_t open(std::string_view location);

  std::vector<DataFile> take() && { return std::move(files_); }
  const std::vector<DataFile>& files() const noexcept { return files_; }

 private:
  struct Root {
    std::string path;  // canonical, no trailing slash
    UniqueFd fd;
  };

  void add_root(const std::string& folder);
  UniqueFd open_beneath(const Root& root, const std::string& path) const;
  std::string target_of(const Root& root, const std::string& path) const;
  UniqueFd open_target(const std::string& target) const;

  std::vector<Root> roots_;
  std::vector<DataFile> files_;
  std::map<std::string, uint32_t, std::less<>> by_location_;
};

}  // namespace onnxfs
