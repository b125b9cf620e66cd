#include "core/onnx/data_files.h"

#include <fcntl.h>
#include <linux/openat2.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/lookup.h"

namespace onnxfs {

namespace {

// ONNX Runtime's mark for "the location is an address in my memory" (onnxruntime, tensorprotoutils.h).
constexpr std::string_view memory_address_mark = "_ORT_MEM_ADDR_";

constexpr uint64_t for_reading = O_RDONLY | O_NONBLOCK | O_NOCTTY;

std::string canonical(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string result(resolved);
  std::free(resolved);
  return result;
}

}  // namespace

std::string normalise_location(std::string_view location) {
  if (location.empty()) fail(EACCES, "the location of its external data is empty");
  if (location.find('\0') != location.npos) fail(EACCES, "the location of its external data holds a NUL");
  if (location.front() == '/') fail(EACCES, "location \"{}\" is absolute; it must lie in the model's folder", location);
  if (location.back() == '/') fail(EACCES, "location \"{}\" names a folder", location);
  if (location.find(memory_address_mark) != location.npos) fail(EACCES, "location \"{}\" means memory", location);
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= location.size();) {
    const size_t end = std::min(location.find('/', begin), location.size());
    const std::string_view part = location.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      fail(EACCES, "location \"{}\" leads out of the model's folder", location);
    } else {
      parts.pop_back();
    }
  }
  if (parts.empty()) fail(EACCES, "location \"{}\" names a folder", location);
  return fmt::format("{}", fmt::join(parts, "/"));
}

DataFiles::DataFiles(const std::string& folder, const std::string& target_folder) {
  add_root(folder);
  if (!target_folder.empty()) add_root(target_folder);
}

DataFiles DataFiles::beside(const std::string& model_path) {
  const auto folder_of = [](const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? std::string(".") : folder;
  };
  const std::string target = canonical(model_path);
  return DataFiles(folder_of(model_path), target.empty() ? "" : folder_of(target));
}

void DataFiles::add_root(const std::string& folder) {
  Root root{canonical(folder), UniqueFd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  if (!root.fd || root.path.empty()) fail(errno, "cannot open the folder {}: {}", folder, describe_errno(errno));
  if (root.path == "/") root.path.clear();
  const bool known = std::ranges::any_of(roots_, [&root](const Root& other) { return other.path == root.path; });
  if (!known) roots_.push_back(std::move(root));
}

uint32_t DataFiles::open(std::string_view location) {
  std::string path = normalise_location(location);
  if (const auto known = by_location_.find(path); known != by_location_.end()) return known->second;
  const auto index = static_cast<uint32_t>(files_.size());
  by_location_.emplace(path, index);
  DataFile& file = files_.emplace_back(DataFile{path, nullptr, {}});
  bool missing = true;  // as far as the folders asked so far say
  for (const Root& root : roots_) {
    try {
      UniqueFd fd = open_beneath(root, path);
      file.source = FileSource::adopt(std::move(fd), fmt::format("{}/{}", root.path, path));
      file.refusal.clear();
      return index;
    } catch (const Error& error) {
      // What the first folder says of a file counts, unless it merely does not have it.
      if (missing) file.refusal = error.what();
      missing = missing && error.code() == ENOENT;
    }
  }
  return index;
}

UniqueFd DataFiles::open_beneath(const Root& root, const std::string& path) const {
  UniqueFd fd =
      openat2(root.fd.get(), path, for_reading, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
  if (fd) return fd;
  const int code = errno;
  if (code == ENOENT) fail(code, "its data file \"{}\" is missing", path);
  if (code == ENOSYS) {
    fail(code, "its data file \"{}\" cannot be opened safely: this kernel lacks openat2 (Linux 5.6)", path);
  }
  if (code != EXDEV) fail(code, "its data file \"{}\" cannot be opened: {}", path, describe_errno(code));
  fd = open_target(target_of(root, path));
  if (!fd) fail(EACCES, "its data file \"{}\" is a link that leads out of the model's folder", path);
  return fd;
}

// Where a path leads that leaves the folder or its file system on its way, by links or a mount; "" for nowhere.
std::string DataFiles::target_of(const Root& root, const std::string& path) const {
  try {
    return look_up(fmt::format("{}/{}", root.path, path)).path;
  } catch (const Error& error) {
    // EDEADLK is what a daemon answers itself, to which its mount led by a way that the mount table does not tell.
    if (error.code() != EXDEV && error.code() != EDEADLK) return {};
    fail(EACCES, "its data file \"{}\" lies in a mount of onnxfs ({}), which may be waiting for it", path, error.what());
  }
}

// The target's path is looked up again with no link allowed in it, so what is opened is beneath one of the folders
// whatever happened since it was found.
UniqueFd DataFiles::open_target(const std::string& target) const {
  for (const Root& root : roots_) {
    if (!target.starts_with(root.path + "/")) continue;
    UniqueFd fd = openat2(root.fd.get(), target.substr(root.path.size() + 1), for_reading,
                          RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    if (fd) return fd;
  }
  return {};
}

}  // namespace onnxfs
