#include "core/sidecar/export.h"

#include <cerrno>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/sidecar/commit_plan.h"
#include "core/sidecar/data_file_name.h"
#include "core/sidecar/file_set.h"
#include "core/sidecar/file_use.h"
#include "core/sidecar/finished_file.h"
#include "core/sidecar/output_names.h"
#include "core/views/safetensors.h"

namespace onnxfs {

namespace {

namespace filesystem = std::filesystem;

void require_readable_size(const Rope& content, const std::string& output, const ExportOptions& options) {
  if (content.size() <= largest_readable) return;
  fail(EFBIG, "{} would have {} bytes, and readers take no model of more than {}; {}", output, content.size(),
       largest_readable,
       options.all_in_model ? "use --external"
       : options.attributes ? "use a smaller --size-threshold"
                            : "use --attributes, so that tensors of nodes go into data files too");
}

// A node names its file itself, which is the same only if it is found from the output's folder too.
void require_delayed_reached(const Model& model, const std::string& folder) {
  for (const Tensor& tensor : model.catalog().tensors()) {
    if (tensor.storage != Storage::delayed || tensor.data_file == Tensor::no_index) continue;
    const DataFile& file = model.catalog().data_files()[tensor.data_file];
    if (file.source && is_reached_from(folder, file.location, file.source->identity())) continue;
    fail(EINVAL, "node \"{}\" names the file \"{}\", which is not in {}; export into the folder of the model",
         tensor.leaf, file.location, folder);
  }
}

std::vector<std::string> write(const CommitPlan& plan, const Model& model, const Edits& edits, const Progress& progress,
                               Disk& disk) {
  FileSet files(plan, model, edits, progress, disk);
  if (progress) progress(plan.size(), plan.size());  // the last chance to stop
  return files.put_in_place_or_none();
}

// Whether one who was killed got as far as that. A file of the model itself is not shared with its copy.
bool keep_finished(const std::string& path, const Rope& content, const Inodes& inputs, CommitPlan& plan) {
  const auto inode = Inode::at(path);
  if (!inode || inputs.contains(*inode)) return false;
  auto finished = finished_file(path, content);
  if (!finished) return false;
  plan.finished.push_back(std::move(finished));
  return true;
}

}  // namespace

ExportReport export_model(const Model& model, const Edits& edits, const std::string& output,
                          const ExportOptions& options, const LocationOf& location_of, const Progress& progress,
                          Disk& disk) {
  if (model.root() != Root::model) {
    fail(EINVAL, "{} is no model but a {}, which has no data files; it can be exported with --safetensors",
         model.path(), name_of(model.root()));
  }
  const filesystem::path target = filesystem::absolute(output);
  const filesystem::path folder = target.parent_path();
  require_usable_name(target, target, model);
  require_free(target);
  require_delayed_reached(model, folder);

  ExportPlan exported = plan_export(model, edits, options, location_of);
  CommitPlan plan;
  const Inodes inputs = inodes_of(model);
  ExportReport report{target, 0, {}, 0, exported.moved_tensors};
  for (const ExportPlan::DataFile& file : exported.data_files) {
    const std::string location = require_portable_location(file.location);
    const std::string path = folder / location;
    require_location_reached(target, location);
    require_usable_name(path, target, model);
    const bool is_finished = keep_finished(path, file.content, inputs, plan);
    if (!is_finished) require_free(path);
    report.data_files.push_back(path);
    report.data_bytes += file.content.size();
    if (!is_finished) plan.data_files.push_back({path, file.content, model.file()});
  }
  plan.model = {target, exported_model(model, edits, exported), model.file()};
  require_readable_size(plan.model->content, target, options);
  report.output_bytes = plan.model->content.size();
  plan.moves = std::move(exported.moves);
  write(plan, model, edits, progress, disk);
  return report;
}

ExportReport export_safetensors(const std::shared_ptr<const Model>& model, const Edits& edits, const PathOf& path_of,
                                const std::string& output, const Progress& progress, Disk& disk) {
  const std::string target = filesystem::absolute(output);
  require_usable_name(target, target, *model);
  require_free(target);
  require_sound(*model);
  CommitPlan plan;
  plan.data_files.push_back({target, safetensors(model, edits, path_of), model->file()});
  write(plan, *model, edits, progress, disk);
  return {target, plan.size(), {}, 0, 0};
}

}  // namespace onnxfs
