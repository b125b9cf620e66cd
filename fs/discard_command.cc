#include "core/sidecar/discard.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/sidecar/sidecar.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/standard_output.h"
#include "fs/subject.h"
#include "fs/tensor_selection.h"
#include "fs/writable_mount.h"

namespace onnxfs {

namespace {

// Drops the edits of what patterns name, and returns their paths. All patterns are looked up before anything is
// dropped.
std::vector<std::string> discard_some(const std::string& model_path, const std::string& folder,
                                      const std::vector<std::string>& patterns) {
  const auto model = Model::open(model_path);
  const auto sidecar = Sidecar::open(model, folder, "onnxfs discard");
  const Tree tree(model->catalog());
  std::set<uint32_t> tensors;
  for (const std::string& pattern : patterns) {
    bool is_edited = false;
    for (const uint32_t tensor : tensors_named(model->catalog(), tree, pattern, model_path)) {
      if (sidecar->edits().find(tensor) == nullptr) continue;
      is_edited = true;
      tensors.insert(tensor);
    }
    if (!is_edited) fail(ENOENT, "{} is not edited; `onnxfs status` lists what is", printable(pattern));
  }
  std::vector<std::string> paths;
  for (const uint32_t tensor : tensors) {
    sidecar->revert(tensor);
    paths.push_back(tree.path_of_tensor(tensor));
  }
  if (sidecar->edits().size() == 0) sidecar->remove();
  else sidecar->flush();
  return paths;
}

int discard(const std::string& model, std::string sidecar, const std::vector<std::string>& patterns) {
  if (sidecar.empty()) sidecar = sidecar_path(model);
  else require_edits_in(sidecar);
  require_no_folder(model, "discard");
  require_no_writable_mount(model);
  std::error_code ignored;
  if (patterns.empty() && !std::filesystem::exists(std::filesystem::symlink_status(sidecar, ignored))) {
    FileSource::open(model);  // a mistyped path has no edits either
    print_out(fmt::format("Nothing is edited in {}\n", printable(model)));
    return 0;
  }
  std::string text;
  if (patterns.empty()) {
    discard_all(model, sidecar);
    text = fmt::format("The edits of {} are gone\n", printable(model));
  } else {
    for (const std::string& path : discard_some(model, sidecar, patterns))
      text += fmt::format("{} is as it was\n", path);
  }
  print_out(text);
  return 0;
}

}  // namespace

int discard_command(int count, char** argument_values) {
  std::string model, sidecar;
  std::vector<std::string> patterns;
  CLI::App app("Drops edits of a model that were not committed.", "onnxfs discard");
  app.add_option("MODEL", model, "The model file")->required();
  app.add_option("GLOB", patterns, "Edited tensors, by path or name; all edits unless given");
  add_sidecar_option(app, sidecar);
  app.footer("Example:\n  onnxfs discard resnet50.onnx initializers/conv1.weight.bin");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  return discard(model, sidecar, patterns);
}

}  // namespace onnxfs
