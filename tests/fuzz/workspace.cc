#include "tests/fuzz/workspace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <span>
#include <system_error>

#include "core/bytes/disk.h"

namespace onnxfs::fuzz {

namespace {

// A file system in memory, where there is one.
std::filesystem::path memory_folder() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK | X_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

}  // namespace

Workspace::Workspace() : path_(std::filesystem::canonical(memory_folder()) / "onnxfs-fuzz-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
  write("w.bin", std::string(32, '\1') + std::string(32, '\x3f'));
  std::filesystem::create_symlink("/etc/passwd", *this / "out");
}

Workspace::~Workspace() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Workspace::write(std::string_view name, std::string_view bytes) const {
  const std::string path = *this / name;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  Disk::real().write(file.get(), std::as_bytes(std::span(bytes)), 0, path);
  return path;
}

}  // namespace onnxfs::fuzz
