#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
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
#include "fs/subject.h"
#include "fs/tree.h"

namespace onnxfs {

namespace {

struct EditedTensor {
  std::string path;
  std::string changed;
  std::string at;
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
    status.edits.push_back({path_of(tensor) + ".bin", changed_parts(*edit), changed_at(*edit)});
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

void print_text(const Status& status) {
  if (!status.problem.empty()) fmt::print("{}\n", printable(status.problem));
  else if (status.edits.empty()) fmt::print("Nothing is edited in {}\n", printable(status.subject.model));
  if (!status.edits.empty()) {
    fmt::print("{} in {}, {} bytes on disk\n", counted(status.edits.size(), "edited tensor"),
               printable(status.subject.sidecar), status.bytes);
  }
  if (!status.holder.empty()) fmt::print("Being edited by {}\n", printable(status.holder));
  for (const std::string& remark : status.remarks) fmt::print("{}\n", printable(remark));
  for (const EditedTensor& edit : status.edits) fmt::print("{}\t{}\t{}\n", edit.path, edit.changed, edit.at);
}

void print_json(const Status& status) {
  nlohmann::ordered_json edits = nlohmann::ordered_json::array();
  for (const EditedTensor& edit : status.edits) {
    edits.push_back({{"path", edit.path}, {"changed", edit.changed}, {"at", edit.at}});
  }
  JsonLines json;
  json.add_text("model", status.subject.model).add_text("sidecar", status.subject.sidecar);
  json.add_number("sidecar_bytes", status.bytes);
  status.holder.empty() ? json.add_null("holder") : json.add_text("holder", status.holder);
  json.add("edits", json_inline(edits)).add("remarks", json_inline(status.remarks));
  status.problem.empty() ? json.add_null("problem") : json.add_text("problem", status.problem);
  const std::string text = std::move(json).take();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

int status_command(int count, char** argument_values) {
  std::string path, sidecar;
  bool as_json = false;
  CLI::App app("Lists the edits of a model that are not committed.", "onnxfs status");
  app.add_option("MODEL|MNT", path, "The model file, or the folder that it is mounted at")->required();
  app.add_option("--sidecar", sidecar, "The folder that keeps the edits; MODEL.sidecar unless said otherwise");
  app.add_flag("--json", as_json, "Print it as JSON");
  app.footer(
      "A line an edited tensor: its path in the mount, what was changed, and when.\n"
      "Exit status: 0, or 1 when the edits do not fit the model or a commit of them was interrupted.\n\n"
      "Example:\n  onnxfs status resnet50.onnx");
  if (const auto exit_status = parse_arguments(app, count, argument_values)) return *exit_status;
  const Status status = status_of(find_subject(path, sidecar));
  as_json ? print_json(status) : print_text(status);
  return status.problem.empty() ? 0 : 1;
}

}  // namespace onnxfs
