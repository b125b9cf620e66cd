#include "fs/folder_members.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <unordered_set>

#include "core/bytes/error.h"
#include "core/bytes/lookup.h"
#include "core/bytes/mount_table.h"
#include "fs/model_names.h"

namespace onnxfs {

namespace {

std::string joined(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

// What follows the folder in a path beneath it; "" of other paths.
std::string path_beneath(const std::string& folder, const std::string& path) {
  const std::string prefix = joined(folder, "");
  return path.starts_with(prefix) ? path.substr(prefix.size()) : "";
}

}  // namespace

FolderMembers::FolderMembers(const std::string& folder, const std::string& mount_point)
    : folder_(folder),
      hidden_(path_beneath(folder, mount_point)),
      fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!fd_) fail(errno, "cannot open the folder {}: {}", folder, describe_errno(errno));
  members_.emplace(0, std::make_unique<FolderMember>());
}

const FolderMember& FolderMembers::member(uint32_t number) const {
  const MutexLock lock(mutex_);
  const auto found = members_.find(number);
  if (found == members_.end()) fail(ENOENT, "there is no member {}", number);
  return *found->second;
}

const FolderMember* FolderMembers::find(const FolderMember& folder, std::string_view name) {
  const auto found = look(open_folder(folder).get(), folder, name);
  if (!found) return nullptr;
  const MutexLock lock(mutex_);
  return add(folder, *found);
}

std::vector<const FolderMember*> FolderMembers::list(const FolderMember& folder) {
  const UniqueFd fd = open_folder(folder);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::dup(fd.get())), &::closedir);
  if (!stream) fail(errno, "cannot list {}: {}", absolute_path(folder), describe_errno(errno));
  std::vector<Found> all;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (auto found = look(fd.get(), folder, entry->d_name)) all.push_back(std::move(*found));
  }
  const MutexLock lock(mutex_);
  std::unordered_set<const FolderMember*> present;
  for (const Found& found : all) present.insert(add(folder, found));
  std::vector<const FolderMember*> result = children_[folder.number].in_order;
  for (const FolderMember*& member : result) {
    if (!present.contains(member)) member = nullptr;
  }
  return result;
}

timespec FolderMembers::changed_at(const FolderMember& folder) const {
  struct stat status;
  if (::fstat(open_folder(folder).get(), &status) != 0) fail(ENOENT, "{} is gone", absolute_path(folder));
  return status.st_mtim;
}

std::string FolderMembers::absolute_path(const FolderMember& member) const {
  const std::string now = path_of(fd_.get());
  const std::string& folder = now.empty() ? folder_ : now;
  return member.path.empty() ? folder : joined(folder, member.path);
}

std::string FolderMembers::path_in(const FolderMember& folder, std::string_view name) {
  return folder.path.empty() ? std::string(name) : fmt::format("{}/{}", folder.path, name);
}

UniqueFd FolderMembers::open_folder(const FolderMember& folder) const {
  UniqueFd fd = openat2(fd_.get(), folder.path.empty() ? "." : folder.path, O_RDONLY | O_DIRECTORY,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (!fd)
    fail(errno == ELOOP || errno == ENOTDIR ? ENOENT : errno, "{} cannot be opened: {}", absolute_path(folder),
         describe_errno(errno));
  return fd;
}

std::optional<FolderMembers::Found> FolderMembers::look(int folder_fd, const FolderMember& folder,
                                                        std::string_view name) const {
  if (name == "." || name == "..") return std::nullopt;
  if (!hidden_.empty() && path_in(folder, name) == hidden_) return std::nullopt;
  Found found{std::string(name), FolderMember::Kind::folder, {}};
  struct stat status;
  if (::fstatat(folder_fd, found.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (S_ISDIR(status.st_mode)) {
    const bool is_passed_over = is_sidecar_name(name) || is_mount_of_ours(folder_fd, folder, name, status);
    return is_passed_over ? std::nullopt : std::optional(found);
  }
  if (!is_model_name(name)) return std::nullopt;
  if (S_ISLNK(status.st_mode) && !follow(folder_fd, folder, found.name, status)) return std::nullopt;
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  found.kind = FolderMember::Kind::model;
  found.identity = FileIdentity::of(status);
  return found;
}

bool FolderMembers::is_mount_of_ours(int folder_fd, const FolderMember& folder, std::string_view name,
                                     const struct stat& status) const {
  struct stat around;
  if (::fstat(folder_fd, &around) == 0 && around.st_dev == status.st_dev) return false;
  const auto mounted = topmost_mount(joined(absolute_path(folder), name));
  return mounted && mounted->is_ours();
}

bool FolderMembers::follow(int folder_fd, const FolderMember& folder, const std::string& link,
                           struct stat& status) const {
  try {
    return ::fstat(look_up_in(folder_fd, absolute_path(folder), link).get(), &status) == 0;
  } catch (const Error&) {
    return false;  // it leads nowhere, or to a mount of ours
  }
}

const FolderMember* FolderMembers::add(const FolderMember& folder, const Found& found) {
  const auto& [name, kind, identity] = found;
  Children& children = children_[folder.number];
  const auto known = children.place_of.find(name);
  if (known != children.place_of.end()) {
    const FolderMember* member = children.in_order[known->second];
    if (member->kind == kind && member->identity == identity) return member;
  }
  if (members_.size() > most_members / 2) fail(ENFILE, "more files than can be numbered");
  auto member = std::make_unique<FolderMember>();
  member->kind = kind;
  member->parent = folder.number;
  member->name = name;
  member->path = path_in(folder, name);
  member->identity = identity;
  const uint64_t seed = identity.size ^ static_cast<uint64_t>(identity.mtime.tv_sec) << 20 ^
                        static_cast<uint64_t>(identity.mtime.tv_nsec);
  uint32_t number = static_cast<uint32_t>(XXH3_64bits_withSeed(member->path.data(), member->path.size(), seed));
  do number = (number + 1) & most_members;
  while (number < first_number || members_.contains(number));
  member->number = number;
  const FolderMember* result = member.get();
  members_.emplace(number, std::move(member));
  children.place_of[name] = children.in_order.size();
  children.in_order.push_back(result);
  return result;
}

}  // namespace onnxfs
