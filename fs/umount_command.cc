#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "core/bytes/error.h"
#include "core/bytes/unique_fd.h"
#include "core/bytes/utf8.h"
#include "core/sidecar/commit.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/mount_point.h"
#include "fs/status.h"

namespace onnxfs {

namespace {

constexpr int patience_ms = 5'000;

// A handle on the process that serves a mount, or none.
UniqueFd serving_process(const nlohmann::json& status) {
  if (!status.contains("pid")) return {};
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, status["pid"].get<pid_t>(), 0)));
}

// Whether the process is gone within so many milliseconds, -1 for ever, so that what it does at its end is done: it
// flushes the edits and lets go of their lock, and removes a folder that it made.
bool ends(const UniqueFd& process, int longest_ms) {
  pollfd end{process.get(), POLLIN, 0};
  return !process || ::poll(&end, 1, longest_ms) == 1;
}

// A commit has to wait for the process to let go of the edits; else it is only said what may be wrong.
void wait_for_end(const UniqueFd& process, const nlohmann::json& status, bool commits) {
  if (ends(process, patience_ms)) return;
  fmt::print(stderr,
             "onnxfs: process {} has not ended yet: it writes its edits, or another mount namespace, as a container has "
             "one, still holds the mount{}\n",
             status["pid"].get<pid_t>(), commits ? "; the commit waits for its end" : "");
  if (commits) ends(process, -1);
}

// What is to be committed after a mount: as its process says, or if that has died, as the mount table does.
struct Mounted {
  std::string model;
  CommitOptions options;
};

Mounted mounted_model(const MountTableEntry& mounted, const nlohmann::json& status) {
  if (is_of_model(status)) {
    return {status["model"].get<std::string>(), {.sidecar = status["sidecar"].get<std::string>()}};
  }
  std::error_code ignored;
  if (status.is_null() && std::filesystem::is_regular_file(mounted.source, ignored)) return {mounted.source, {}};
  fail(EINVAL, "{} is a folder of models: unmount it, then commit each model that was edited", mounted.mount_point);
}

std::vector<std::string> scratch_files_in(const nlohmann::json& status) {
  return status.contains("scratch_files") ? status["scratch_files"].get<std::vector<std::string>>()
                                          : std::vector<std::string>();
}

// Whether a file has the name of one that shows a tensor: a slip of the pen, and not what a program keeps aside.
bool is_like_a_tensors(const std::string& path) {
  return path.ends_with(".bin") || path.ends_with(".npy") || path.ends_with(".json");
}

// What was written into files of the mount that are no tensor's ends with it: nobody who commits wants that unsaid.
void require_nothing_left(const std::vector<std::string>& scratch_files, const std::string& mount_point) {
  const auto left = std::ranges::find_if(scratch_files, is_like_a_tensors);
  if (left == scratch_files.end()) return;
  fail(ENOTEMPTY,
       "{0}/{1} shows no tensor, and what was written to it would be lost: rename it over the one that it is "
       "meant for, or remove it",
       mount_point, printable(*left));
}

void tell_of_losses(const std::vector<std::string>& scratch_files) {
  for (const std::string& path : scratch_files) {
    fmt::print(stderr, "onnxfs: {} showed no tensor, and is gone with the mount\n", printable(path));
  }
}

int umount(const std::string& path, bool with_commit) {
  const auto mounted = find_mounted(path);
  if (!mounted) fail(EINVAL, "no model is mounted at {}", path);
  const auto status = read_status(mounted->mount_point);
  const UniqueFd process = serving_process(status);
  const auto scratch_files = scratch_files_in(status);
  Mounted model;
  if (with_commit) {
    model = mounted_model(*mounted, status);
    require_nothing_left(scratch_files, mounted->mount_point);
  }
  unmount(mounted->mount_point, status.is_null());
  tell_of_losses(scratch_files);
  wait_for_end(process, status, with_commit);
  return with_commit ? commit_and_report(model.model, std::move(model.options)) : 0;
}

}  // namespace

int umount_command(int count, char** argument_values) {
  std::string mount_point;
  bool with_commit = false;
  CLI::App app("Unmounts a model. Fails while a program uses the mount.", "onnxfs umount");
  app.add_option("MNT", mount_point, "The folder that the model is mounted at")->required();
  app.add_flag("--commit", with_commit, "Then write the edits into the model, as onnxfs commit does");
  app.footer("Example:\n  onnxfs umount mnt");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  return umount(mount_point, with_commit);
}

}  // namespace onnxfs
