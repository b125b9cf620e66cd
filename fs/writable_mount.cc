#include "fs/writable_mount.h"

#include <cerrno>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/mount_table.h"

namespace onnxfs {

std::optional<std::string> find_writable_mount(const std::string& model_path) {
  namespace files = std::filesystem;
  const files::path model = files::absolute(model_path).lexically_normal();
  for (const MountTableEntry& entry : read_mount_table()) {
    if (!entry.is_ours() || entry.read_only) continue;
    std::error_code ignored;
    if (entry.source == model || files::equivalent(entry.source, model, ignored)) return entry.mount_point;
  }
  return std::nullopt;
}

void require_no_writable_mount(const std::string& model) {
  if (const auto mount = find_writable_mount(model)) {
    fail(EBUSY, "{} is mounted at {}, where it can be edited; unmount it first: onnxfs umount {}", model, *mount,
         *mount);
  }
}

}  // namespace onnxfs
