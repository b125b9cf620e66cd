#include "core/sidecar/discard.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/sidecar/sidecar.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/mount_table.h"
#include "fs/subject.h"
#include "fs/tensor_path.h"

namespace onnxfs {

namespace {

// All paths are looked up before anything is dropped.
void discard_some(const std::string& model_path, const std::string& folder, const std::vector<std::string>& paths) {
  const auto model = Model::open(model_path);
  const auto sidecar = Sidecar::open(model, folder, "onnxfs discard");
  const Tree tree(model->catalog());
  std::vector<uint32_t> tensors;
  for (const std::string& path : paths) {
    tensors.push_back(tensor_at_path(tree, path));
    if (sidecar->edits().find(tensors.back()) == nullptr) fail(ENOENT, "{} is not edited", path);
  }
  for (const uint32_t tensor : tensors) sidecar->revert(tensor);
  if (sidecar->edits().size() == 0) sidecar->remove();
  else sidecar->flush();
}

int discard(const std::string& model, std::string sidecar, const std::vector<std::string>& paths) {
  if (sidecar.empty()) sidecar = sidecar_path(model);
  else require_edits_in(sidecar);
  require_no_writable_mount(model);
  std::error_code ignored;
  if (paths.empty() && !std::filesystem::exists(std::filesystem::symlink_status(sidecar, ignored))) {
    FileSource::open(model);  // a mistyped path has no edits either
    fmt::print("Nothing is edited in {}\n", printable(model));
    return 0;
  }
  if (paths.empty()) discard_all(model, sidecar);
  else discard_some(model, sidecar, paths);
  for (const std::string& path : paths) fmt::print("{} is as it was\n", printable(path));
  if (paths.empty()) fmt::print("The edits of {} are gone\n", printable(model));
  return 0;
}

}  // namespace

int discard_command(int count, char** argument_values) {
  std::string model, sidecar;
  std::vector<std::string> paths;
  CLI::App app("Drops edits of a model that were not committed.", "onnxfs discard");
  app.add_option("MODEL", model, "The model file")->required();
  app.add_option("PATH", paths, "Tensors, by their paths in the mount; all edits unless given");
  app.add_option("--sidecar", sidecar, "The folder that keeps the edits; MODEL.sidecar unless said otherwise");
  app.footer("Example:\n  onnxfs discard resnet50.onnx initializers/conv1.weight.bin");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  return discard(model, sidecar, paths);
}

}  // namespace onnxfs
