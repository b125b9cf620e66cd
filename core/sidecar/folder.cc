#include "core/sidecar/folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "core/bytes/error.h"
#include "core/sidecar/base.h"
#include "core/sidecar/blob.h"

namespace onnxfs {

namespace {

std::optional<uint32_t> blob_number(std::string_view name) {
  constexpr std::string_view suffix = ".blob";
  if (name.size() < 8 + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

void remove_if_there(const std::string& path, Disk& disk) {
  if (exists(path)) disk.remove(path);
}

}  // namespace

std::string base_path(const std::string& folder) { return folder + "/base.json"; }
std::string lock_path(const std::string& folder) { return folder + "/lock"; }
std::string journal_path(const std::string& folder) { return folder + "/commit.journal"; }
std::string new_journal_path(const std::string& folder) { return journal_path(folder) + ".new"; }

bool exists(const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0) return true;
  const int code = errno;
  if (code == ENOENT || code == ENOTDIR) return false;
  fail(code, "cannot examine {}: {}", path, describe_errno(code));
}

std::vector<uint32_t> list_blobs(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
  if (!stream) {
    const int code = errno;
    if (code == ENOENT) return {};
    fail(code, "cannot list {}: {}", folder, describe_errno(code));
  }
  std::vector<uint32_t> numbers;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    // A name that we would not give is not ours: the path of its number would be another.
    const auto number = blob_number(entry->d_name);
    if (number && blob_path(folder, *number) == folder + "/" + entry->d_name) numbers.push_back(*number);
  }
  if (const int code = errno; code != 0) fail(code, "cannot list {}: {}", folder, describe_errno(code));
  std::ranges::sort(numbers);
  return numbers;
}

bool make_sidecar_folder(const std::string& folder, Disk& disk) {
  if (exists(folder)) return false;
  try {
    disk.make_folder(folder, 0700);
    return true;
  } catch (const Error& error) {
    if (error.code() == EEXIST) return false;
    throw;
  }
}

void remove_edits(const std::string& folder, Disk& disk) {
  if (exists(base_path(folder))) {
    disk.remove(base_path(folder));
    disk.flush_folder(folder);
  }
  remove_if_there(Base::temporary_path(folder), disk);
  for (const uint32_t number : list_blobs(folder)) disk.remove(blob_path(folder, number));
  remove_if_there(new_journal_path(folder), disk);
  remove_if_there(journal_path(folder), disk);
}

void remove_sidecar_files(const std::string& folder, Disk& disk) {
  remove_edits(folder, disk);
  remove_if_there(lock_path(folder), disk);
  try {
    disk.remove_folder(folder);
  } catch (const Error& error) {
    if (error.code() != ENOTEMPTY && error.code() != EEXIST) throw;
  }
}

}  // namespace onnxfs
