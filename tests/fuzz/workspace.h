#pragma once

#include <string>
#include <string_view>

namespace onnxfs::fuzz {

// A folder in memory for the files of a target, so that thousands of inputs a second can be opened as files. The
// process's own, removed when it ends well.
class Workspace {
 public:
  // With "w.bin", of 64 bytes, for external data; and a link "out" to a file outside of it.
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Writes a file anew, and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace onnxfs::fuzz
