#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/bytes/error.h"
#include "core/bytes/unique_fd.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/mount_point.h"

namespace onnxfs {

namespace {

constexpr int longest_wait_ms = 10'000;

// A handle on the process that serves a mount, or none when that cannot be told (a dead mount).
UniqueFd serving_process(const std::string& mount_point) {
  std::ifstream file(mount_point + "/.onnxfs/status.json");
  const auto status = nlohmann::json::parse(file, nullptr, false);
  if (!status.is_object() || !status.contains("pid")) return {};
  const auto pid = status["pid"].get<pid_t>();
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

int umount(const std::string& path) {
  MountedModel mounted;
  if (!find_mounted(path, mounted)) fail(EINVAL, "no model is mounted at {}", path);
  const UniqueFd process = serving_process(mounted.mount_point);
  unmount(mounted.mount_point, false);
  // Until the process is gone, so that what it does at its end (it removes a folder that it made) is done.
  pollfd end{process.get(), POLLIN, 0};
  if (process) ::poll(&end, 1, longest_wait_ms);
  return 0;
}

}  // namespace

int umount_command(int count, char** argument_values) {
  std::string mount_point;
  CLI::App app("Unmounts a model. Fails while a program uses the mount.", "onnxfs umount");
  app.add_option("MNT", mount_point, "The folder that the model is mounted at")->required();
  app.footer("Example:\n  onnxfs umount mnt");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  return umount(mount_point);
}

}  // namespace onnxfs
