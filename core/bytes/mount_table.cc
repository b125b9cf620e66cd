#include "core/bytes/mount_table.h"

#include <fstream>
#include <sstream>
#include <utility>

namespace onnxfs {

namespace {

// Space, tab, newline and backslash stand as \ooo in the mount table.
std::string unescape(const std::string& field) {
  std::string text;
  for (size_t i = 0; i < field.size(); ++i) {
    const auto octal = [&field](size_t at) { return at < field.size() && field[at] >= '0' && field[at] <= '7'; };
    if (field[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      text += static_cast<char>((field[i + 1] - '0') << 6 | (field[i + 2] - '0') << 3 | (field[i + 3] - '0'));
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

bool says_read_only(const std::string& options) { return options == "ro" || options.starts_with("ro,"); }

}  // namespace

std::vector<MountTableEntry> read_mount_table() {
  // proc(5): ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [TAG …] - TYPE SOURCE OPTIONS
  std::ifstream table("/proc/self/mountinfo");
  std::vector<MountTableEntry> entries;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    MountTableEntry entry;
    std::string id, parent, root, options, field, source, all_options;
    fields >> id >> parent >> entry.device >> root >> entry.mount_point >> options;
    while (fields >> field && field != "-") {
    }
    fields >> entry.type >> source >> all_options;
    entry.mount_point = unescape(entry.mount_point);
    entry.source = unescape(source);
    entry.read_only = says_read_only(options) || says_read_only(all_options);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::optional<MountTableEntry> topmost_mount(const std::string& path) {
  std::optional<MountTableEntry> topmost;
  for (MountTableEntry& entry : read_mount_table()) {
    if (entry.mount_point == path) topmost = std::move(entry);
  }
  return topmost;
}

}  // namespace onnxfs
