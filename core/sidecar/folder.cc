#include "core/sidecar/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "core/bytes/error.h"
#include "core/bytes/lookup.h"
#include "core/sidecar/base.h"
#include "core/sidecar/blob.h"
#include "core/sidecar/record.h"

namespace onnxfs {

namespace {

// A name that we would not give is not ours: the path of its number would be another.
std::optional<uint32_t> blob_number(std::string_view name) {
  constexpr std::string_view suffix = ".blob";
  if (name.size() < 8 + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  const std::string_view digits = name.substr(0, name.size() - suffix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return blob_path("", number).substr(1) == name ? std::optional(number) : std::nullopt;
}

std::vector<std::string> list_names(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
  if (!stream) {
    const int code = errno;
    if (code == ENOENT) return {};
    fail(code, "cannot list {}: {}", folder, describe_errno(code));
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (const int code = errno; code != 0) fail(code, "cannot list {}: {}", folder, describe_errno(code));
  return names;
}

bool is_regular(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// By the first bytes of a file, of which it may not have all.
bool is_ours(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::array<char, blob_magic.size()> start;
  const ssize_t n = fd && is_regular(path) ? ::read(fd.get(), start.data(), start.size()) : -1;
  return n >= 0 && blob_magic.starts_with(std::string_view(start.data(), static_cast<size_t>(n)));
}

// Of a small file; "" when there is none, or what would not end.
std::string beginning_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::string text(4096, '\0');
  std::ifstream file(path);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
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
  std::vector<uint32_t> numbers;
  for (const std::string& name : list_names(folder)) {
    if (const auto number = blob_number(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

bool is_remains_of_sidecar(const std::string& folder) {
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || exists(base_path(folder))) return false;
  return std::ranges::all_of(list_names(folder), [&folder](const std::string& name) {
    const std::string path = folder + "/" + name;
    if (blob_number(name)) return is_ours(path);
    return path == lock_path(folder) || path == Base::temporary_path(folder) || path == new_journal_path(folder);
  });
}

bool has_edits(const std::string& folder) {
  for (const uint32_t number : list_blobs(folder)) {
    const std::string path = blob_path(folder, number);
    if (is_ours(path) && std::filesystem::file_size(path) != 0) return true;
  }
  const std::string base = beginning_of(base_path(folder));
  return (base.find("\"structure\":") != base.npos && base.find("\"log\":") != base.npos) ||
         beginning_of(journal_path(folder)).starts_with("{\"checksum\":\"");
}

void make_sidecar_folder(const std::string& folder, Disk& disk) {
  if (!exists(folder)) {
    try {
      disk.make_folder(folder, 0700);
    } catch (const Error& error) {
      if (error.code() != EEXIST) throw;
    }
  }
  require_folder(folder);
}

void require_folder(const std::string& folder) {
  struct stat status;
  const int code = ::stat(folder.c_str(), &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  if (code == 0) return;
  const std::string what = code == ENOENT    ? "is a link to nothing"
                           : code == ENOTDIR ? "is not a folder"
                                             : "cannot be examined: " + describe_errno(code);
  fail(code, "{}, where edits are kept, {}; move it elsewhere, or name another folder with --sidecar", folder, what);
}

void require_folder_outside_mounts(const std::string& folder) {
  for (const std::string& path : {folder, base_path(folder), journal_path(folder)}) require_outside_mounts(path);
}

void replace_file(const std::string& path, const std::string& temporary, std::string_view text, Disk& disk) {
  remove_if_there(temporary, disk);
  try {
    const UniqueFd fd = disk.create(temporary, 0600);
    disk.write(fd.get(), std::as_bytes(std::span(text)), 0, temporary);
    disk.flush(fd.get(), temporary);
    disk.rename(temporary, path);
  } catch (const Error&) {
    remove_quietly(disk, temporary);
    throw;
  }
}

void remove_edits(const std::string& folder, Disk& disk) {
  const bool has_base = exists(base_path(folder));
  if (has_base) {
    disk.remove(base_path(folder));
    disk.flush_folder(folder);
  }
  remove_if_there(Base::temporary_path(folder), disk);
  for (const uint32_t number : list_blobs(folder)) {
    const std::string path = blob_path(folder, number);
    if (has_base ? is_regular(path) : is_ours(path)) disk.remove(path);
  }
  remove_if_there(new_journal_path(folder), disk);
  remove_if_there(journal_path(folder), disk);
}

void remove_sidecar_files(const std::string& folder, Disk& disk) {
  remove_edits(folder, disk);
  remove_if_there(lock_path(folder), disk);
  try {
    disk.remove_folder(folder);
  } catch (const Error& error) {
    // ENOTDIR: a link to it, which is its maker's.
    if (error.code() != ENOTEMPTY && error.code() != EEXIST && error.code() != ENOTDIR) throw;
  }
}

}  // namespace onnxfs
