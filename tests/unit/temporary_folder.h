#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace onnxfs::testing {

// A new folder, and all that a test puts in it, until the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::canonical(std::filesystem::temp_directory_path()) / "onnxfs-unit-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Each makes the folders on the way, and returns the path of what it made.
  std::string folder(std::string_view name) const {
    std::filesystem::create_directories(*this / name);
    return *this / name;
  }
  std::string write(std::string_view name, std::string_view bytes) const {
    const std::string path = made_way_to(name);
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::badbit | std::ios::failbit);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    return path;
  }
  std::string symlink(std::string_view name, const std::string& target) const {
    const std::string path = made_way_to(name);
    std::filesystem::create_symlink(target, path);
    return path;
  }

 private:
  std::string made_way_to(std::string_view name) const {
    const std::filesystem::path path = *this / name;
    std::filesystem::create_directories(path.parent_path());
    return path;
  }

  std::string path_;
};

}  // namespace onnxfs::testing
