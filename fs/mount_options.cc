#include "fs/mount_options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "fs/usage_error.h"

namespace onnxfs {

namespace {

// What the files look like, whether they can be written, and where that goes.
constexpr std::array<std::string_view, 4> own_values{"uid=", "gid=", "umask=", "sidecar="};
constexpr std::array<std::string_view, 2> own_flags{"ro", "rw"};

// Passed on: libfuse gives each to the kernel as a flag or takes it itself.
constexpr std::array<std::string_view, 15> fuse_flags{
    "allow_other", "allow_root", "auto_unmount", "default_permissions",
    "dev",         "nodev",      "suid",         "nosuid",
    "exec",        "noexec",     "atime",        "noatime",
    "sync",        "async",      "dirsync"};

// Not the subtype: by it a mount is known to be ours.
constexpr std::array<std::string_view, 1> fuse_values{"fsname="};

// mount(8) and fstab use these themselves and pass some of them on. They ask nothing of a file system that keeps no
// access times.
constexpr std::array<std::string_view, 23> accepted{
    "defaults",   "auto",        "noauto",        "user",     "nouser",     "users",    "nousers",    "owner",
    "noowner",    "group",       "nogroup",       "_netdev",  "nofail",     "diratime", "nodiratime", "relatime",
    "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime", "loud",     "silent"};

bool contains(auto& list, std::string_view option) { return std::ranges::find(list, option) != list.end(); }

bool has_prefix_of(auto& list, std::string_view option) {
  return std::ranges::any_of(list, [option](std::string_view prefix) { return option.starts_with(prefix); });
}

bool is_accepted(std::string_view option) {
  return contains(accepted, option) || option.starts_with("x-") || option.starts_with("comment=");
}

unsigned parse_number(std::string_view option, std::string_view text, int base, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || value > most) {
    throw UsageError(fmt::format("-o {}: {} is no {}", option, text.empty() ? "nothing" : text,
                                 base == 8 ? "octal mode" : "number"));
  }
  return value;
}

std::string_view parse_folder(std::string_view option, std::string_view text) {
  if (text.empty()) throw UsageError(fmt::format("-o {}: nothing is no folder", option));
  return text;
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> options;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end != begin) options.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return options;
}

}  // namespace

MountOptions MountOptions::parse(const std::vector<std::string>& lists) {
  MountOptions result;
  for (const std::string& list : lists) {
    for (const std::string_view option : split(list)) {
      const std::string_view value = option.substr(std::min(option.find('=') + 1, option.size()));
      constexpr unsigned any_id = 0xffff'fffe;
      if (option.starts_with("uid=")) result.uid = parse_number(option, value, 10, any_id);
      else if (option.starts_with("gid=")) result.gid = parse_number(option, value, 10, any_id);
      else if (option.starts_with("umask=")) result.umask = parse_number(option, value, 8, 0777);
      else if (option.starts_with("sidecar=")) result.sidecar = parse_folder(option, value);
      else if (contains(own_flags, option)) result.read_only = option == "ro";
      else if (contains(fuse_flags, option) || has_prefix_of(fuse_values, option)) result.for_fuse.emplace_back(option);
      else if (!is_accepted(option)) throw UsageError(fmt::format("-o {}: there is no such option", option));
    }
  }
  return result;
}

std::string MountOptions::known(std::string_view list) {
  std::string result;
  for (const std::string_view option : split(list)) {
    if (!has_prefix_of(own_values, option) && !contains(own_flags, option) && !contains(fuse_flags, option) &&
        !has_prefix_of(fuse_values, option) && !is_accepted(option))
      continue;
    if (!result.empty()) result += ',';
    result += option;
  }
  return result;
}

Ownership MountOptions::ownership() const {
  return {uid.value_or(::getuid()), gid.value_or(::getgid()), umask.value_or(0), !read_only};
}

}  // namespace onnxfs
