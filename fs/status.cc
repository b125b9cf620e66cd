#include "fs/status.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "core/views/json_lines.h"

namespace onnxfs {

namespace {

using Json = nlohmann::ordered_json;

Json file_json(const std::string& name, const FileSource& file) {
  const std::string staleness = file.staleness();
  return {{"file", name},
          {"size", file.size()},
          {"changed", !staleness.empty()},
          {"problem", staleness.empty() ? Json(nullptr) : Json(staleness)}};
}

Json data_files_json(const Model& model) {
  Json list = Json::array();
  for (const DataFile& file : model.catalog().data_files()) {
    if (file.source) list.push_back(file_json(file.location, *file.source));
    else list.push_back({{"file", file.location}, {"size", nullptr}, {"changed", false}, {"problem", file.refusal}});
  }
  return list;
}

JsonLines mount_json(const MountFacts& facts, const std::vector<std::string>& scratch_files) {
  JsonLines json;
  json.add_text("program", "onnxfs").add_text("version", ONNXFS_VERSION);
  json.add_number("pid", static_cast<uint64_t>(::getpid()));
  json.add_text("model", facts.model_path).add_text("mount_point", facts.mount_point);
  json.add_text("mounted_at", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(facts.mounted_at)));
  json.add_flag("read_only", facts.read_only);
  json.add("scratch_files", json_inline(scratch_files));
  return json;
}

}  // namespace

std::string folder_status_json(const MountFacts& facts, const std::vector<std::string>& scratch_files) {
  return mount_json(facts, scratch_files).take();
}

std::string status_json(const Sidecar& sidecar, const MountFacts& facts,
                        const std::vector<std::string>& scratch_files) {
  const Model& model = sidecar.model();
  const auto& tensors = model.catalog().tensors();
  uint64_t broken = 0;
  for (uint32_t i = 0; i < tensors.size(); ++i) broken += !model.problem(i).empty();
  JsonLines json = mount_json(facts, scratch_files);
  json.add_number("tensors", tensors.size()).add_number("broken_tensors", broken);
  json.add("model_file", json_inline(file_json(model.name(), *model.file())));
  json.add("data_files", json_inline(data_files_json(model)));
  json.add_text("sidecar", sidecar.folder());
  json.add_number("edited_tensors", sidecar.edits().size()).add_number("sidecar_bytes", sidecar.size_on_disk());
  json.add("sidecar_remarks", json_inline(sidecar.remarks()));
  return std::move(json).take();
}

nlohmann::json read_status(const std::string& mount_point) {
  std::ifstream file(mount_point + "/.onnxfs/status.json");
  auto status = nlohmann::json::parse(file, nullptr, false);
  return status.is_object() ? status : nlohmann::json();
}

bool is_of_model(const nlohmann::json& status) { return status.contains("sidecar") && status.contains("model"); }

}  // namespace onnxfs
