#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/sidecar/sidecar.h"
#include "core/views/json_lines.h"
#include "core/views/listing.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/counted.h"
#include "fs/standard_output.h"
#include "fs/subject.h"
#include "fs/tree.h"

namespace onnxfs {

namespace {

struct EditedTensor {
  std::string path;  // without a suffix
  TensorEditPtr edit;
};

struct Status {
  Subject subject;
  std::string holder;  // "" when nobody writes
  uint64_t bytes = 0;
  std::vector<EditedTensor> edits;
  std::vector<std::string> remarks;
  std::string problem;  // why the edits cannot be listed
};

void list_edits(Status& status) {
  const auto model = Model::open(status.subject.model);
  const auto sidecar = Sidecar::open(model, status.subject.sidecar, "onnxfs status");
  status.bytes = sidecar->size_on_disk();
  status.remarks = sidecar->remarks();
  const Tree tree(model->catalog());
  const auto path_of = tree.paths_for_listing();
  for (const auto& [tensor, edit] : sidecar->edits().snapshot()) {
    status.edits.push_back({path_of(tensor), edit});
  }
}

Status status_of(Subject subject) {
  Status status{std::move(subject), {}, 0, {}, {}, {}};
  status.holder = sidecar_holder(status.subject.sidecar);
  try {
    list_edits(status);
  } catch (const Error& error) {
    // What is wrong with the edits is what is asked for; with the model, it is not.
    if (error.code() != ESTALE && error.code() != EBADMSG && error.code() != EINPROGRESS && error.code() != ENOTSUP)
      throw;
    if (!std::filesystem::exists(status.subject.sidecar)) throw;
    status.problem = error.what();
  }
  return status;
}

std::string text_of(const Status& status) {
  std::string text;
  if (!status.problem.empty()) text += fmt::format("{}\n", printable(status.problem));
  else if (status.edits.empty()) text += fmt::format("Nothing is edited in {}\n", printable(status.subject.model));
  if (!status.edits.empty()) {
    text += fmt::format("{} in {}, {} on disk\n", counted(status.edits.size(), "edited tensor"),
                        printable(status.subject.sidecar), counted(status.bytes, "byte"));
  }
  if (!status.holder.empty()) text += fmt::format("Being edited by {}\n", printable(status.holder));
  for (const std::string& remark : status.remarks) text += fmt::format("{}\n", printable(remark));
  for (const EditedTensor& edit : status.edits) {
    text += fmt::format("{}.bin\t{}\t{}\n", edit.path, changed_parts(*edit.edit), changed_at(*edit.edit));
  }
  return text;
}

std::string json_of(const Status& status) {
  nlohmann::ordered_json edits = nlohmann::ordered_json::array();
  for (const EditedTensor& edit : status.edits) {
    edits.push_back({{"path", edit.path},
                     {"bin", fmt::format("{}.bin", edit.path)},
                     {"changed", nlohmann::json::parse(changed_json(*edit.edit))},
                     {"at", changed_at(*edit.edit)}});
  }
  JsonLines json;
  json.add_text("model", status.subject.model).add_text("sidecar", status.subject.sidecar);
  json.add_number("sidecar_bytes", status.bytes);
  status.holder.empty() ? json.add_null("holder") : json.add_text("holder", status.holder);
  json.add("edits", json_inline(edits)).add("remarks", json_inline(status.remarks));
  status.problem.empty() ? json.add_null("problem") : json.add_text("problem", status.problem);
  return std::move(json).take();
}

}  // namespace

int status_command(int count, char** argument_values) {
  std::string path, sidecar;
  bool as_json = false;
  CLI::App app("Lists the edits of a model that are not committed.", "onnxfs status");
  app.add_option("MODEL|MNT", path, "A model file, or the folder that it is mounted at")->required();
  add_sidecar_option(app, sidecar);
  app.add_flag("--json", as_json, "Print it as JSON");
  app.footer(
      "A line an edited tensor: its path in the mount, what was changed, and when.\n"
      "Exit status: 0, or 1 when the edits do not fit the model or a commit of them was\n"
      "interrupted.\n\n"
      "Example:\n  onnxfs status resnet50.onnx");
  if (const auto exit_status = parse_arguments(app, count, argument_values)) return *exit_status;
  const Status status = status_of(find_subject(path, sidecar));
  print_out(as_json ? json_of(status) : text_of(status));
  return status.problem.empty() ? 0 : 1;
}

}  // namespace onnxfs
