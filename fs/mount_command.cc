#include <spdlog/spdlog.h>

#include <cstdio>
#include <ctime>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/lookup.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/daemon.h"
#include "fs/folder_filesystem.h"
#include "fs/log.h"
#include "fs/model_filesystem.h"
#include "fs/session.h"
#include "fs/status.h"

namespace onnxfs {

namespace {

struct Arguments {
  std::string model;
  std::string mount_point;
  std::vector<std::string> options;
  std::string sidecar;
  bool foreground = false;
};

std::shared_ptr<Filesystem> model_filesystem(const std::shared_ptr<Sidecar>& sidecar, const MountFacts& facts,
                                             Ownership ownership) {
  return std::make_shared<ModelFilesystem>(
      sidecar, ownership, [sidecar, facts](const auto& scratch) { return status_json(*sidecar, facts, scratch); });
}

std::shared_ptr<Filesystem> folder_filesystem(const MountFacts& facts, Ownership ownership) {
  const auto open_model = [ownership, facts](const std::string& path) {
    require_outside_mounts(path);
    return std::make_shared<ModelFilesystem>(Sidecar::open(Model::open(path), sidecar_path(path), facts.mount_point),
                                             ownership, nullptr);
  };
  if ((facts.model_path + "/").starts_with(facts.mount_point + "/")) {
    fail(EINVAL, "a mount at {} would hide the folder {} from itself", facts.mount_point, facts.model_path);
  }
  ownership.writable = false;  // of the folder itself
  return std::make_shared<FolderFilesystem>(
      facts.model_path, facts.mount_point, ownership, open_model,
      [facts](const auto& scratch) { return folder_status_json(facts, scratch); });
}

// A folder that cannot be listed hides nothing from who mounts.
bool is_not_empty(const std::string& folder) {
  std::error_code error;
  const bool is_empty = std::filesystem::is_empty(folder, error);
  return !error && !is_empty;
}

// Whether a path, of which the last name need not exist, is not to be seen any more with a mount at `mount_point`, or
// what it is a link to is not.
bool is_hidden(const std::filesystem::path& path, const std::string& mount_point) {
  const std::string hidden = mount_point == "/" ? "/" : mount_point + "/";
  return (absolute_path(path) + "/").starts_with(hidden) ||
         (absolute_path(path.parent_path()) + "/").starts_with(hidden);
}

void log_remarks(const Sidecar& sidecar) {
  for (const std::string& remark : sidecar.remarks()) spdlog::warn("{}", remark);
}

int mount(const Arguments& arguments) {
  namespace files = std::filesystem;
  MountOptions options = MountOptions::parse(arguments.options);
  std::error_code ignored;  // Model::open says what is wrong with a path
  const bool is_folder = files::is_directory(arguments.model, ignored);
  const std::string& sidecar_given = arguments.sidecar.empty() ? options.sidecar : arguments.sidecar;
  if (is_folder && !sidecar_given.empty())
    fail(EINVAL, "--sidecar is for one model, and {} is a folder", arguments.model);
  // Absolute, because a daemon leaves the folder that it was started in.
  const std::string path = is_folder ? files::canonical(arguments.model) : files::absolute(arguments.model);
  const std::string folder = sidecar_given.empty() ? sidecar_path(path) : files::absolute(sidecar_given).string();
  // Before there is a mount point: most mistakes are in the model.
  const auto sidecar =
      is_folder ? nullptr : Sidecar::open(Model::open(path), folder, absolute_path(arguments.mount_point));
  MountPoint mount_point(arguments.mount_point);
  // Neither could be found any more when an edit is made.
  const bool hides_edits = !is_folder && !options.read_only &&
                           (is_hidden(path, mount_point.path()) || is_hidden(folder, mount_point.path()));
  options.read_only = options.read_only || hides_edits;
  const MountFacts facts{files::path(path).lexically_normal(), mount_point.path(), std::time(nullptr),
                         options.read_only};
  const auto filesystem =
      is_folder ? folder_filesystem(facts, options.ownership()) : model_filesystem(sidecar, facts, options.ownership());
  const bool hides_files = is_not_empty(facts.mount_point);
  Session session(*filesystem, mount_point, options, facts.model_path);
  if (hides_files) {
    std::fprintf(stderr, "onnxfs: %s is not empty; the files in it are hidden while the model is mounted there\n",
                 facts.mount_point.c_str());
  }
  if (hides_edits) {
    std::fprintf(stderr, "onnxfs: the mount hides the model or its edits, so it is read-only; mount elsewhere to edit\n");
  }
  if (sidecar) log_remarks(*sidecar);
  Daemon daemon = arguments.foreground ? Daemon::foreground() : Daemon::start();
  if (!arguments.foreground) log_to_syslog();
  return session.serve([&daemon] { daemon.ready(); }) ? 0 : 1;
}

}  // namespace

int mount_command(int count, char** argument_values) {
  Arguments arguments;
  CLI::App app("Mounts an ONNX model as a folder in which each tensor is a file.", "onnxfs mount");
  app.add_option("MODEL", arguments.model, "A model (.onnx), a file of values (.pb), or a folder of them")->required();
  app.add_option("MNT", arguments.mount_point, "The folder to mount it at; made if it is missing")->required();
  app.add_option("-o", arguments.options, "As of mount(8): ro, allow_other, uid=, gid=, umask= and others")
      ->option_text("OPTIONS")
      ->allow_extra_args(false);
  add_sidecar_option(app, arguments.sidecar);
  app.add_flag("-f,--foreground", arguments.foreground, "Stay in the foreground, and log to standard error");
  app.set_version_flag("-V,--version", "onnxfs " ONNXFS_VERSION, "Print the version");
  app.footer(
      "The word mount may be left out. `onnxfs --help` lists the other commands.\n\n"
      "Example:\n  onnxfs resnet50.onnx mnt && ls mnt/initializers");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  return mount(arguments);
}

}  // namespace onnxfs
