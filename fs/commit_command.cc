#include "core/sidecar/commit.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/sidecar/sidecar.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/counted.h"
#include "fs/interruption.h"
#include "fs/progress_line.h"
#include "fs/standard_output.h"
#include "fs/subject.h"
#include "fs/writable_mount.h"

namespace onnxfs {

namespace {

void print(const CommitReport& report, const std::string& model) {
  std::string text;
  if (report.written.empty()) {
    text = fmt::format("{} {}\n", report.edits == 0 ? "Nothing is edited in" : "Nothing is changed by the edits of",
                       printable(model));
  } else {
    text = fmt::format("Committed {}:\n", counted(report.edits, "edited tensor"));
  }
  for (const std::string& path : report.written) text += fmt::format("  {}\n", printable(path));
  print_out(text);
  for (const std::string& remark : report.remarks) fmt::print(stderr, "onnxfs: {}\n", printable(remark));
}

}  // namespace

int commit_and_report(const std::string& model, CommitOptions options) {
  if (options.sidecar.empty()) options.sidecar = sidecar_path(model);
  require_no_writable_mount(model);
  CommitReport report;
  {
    const Interruption interruption;
    ProgressLine line("committing");
    const bool may_stop = !options.in_place;
    options.progress = [&](uint64_t done, uint64_t total) {
      line.show(done, total);
      if (may_stop) interruption.check();
    };
    report = commit(model, options);
  }
  print(report, model);
  return 0;
}

int commit_command(int count, char** argument_values) {
  std::string model;
  CommitOptions options;
  CLI::App app("Writes the edits of a model into its files, and ends its sidecar.", "onnxfs commit");
  app.add_option("MODEL", model, "The model file")->required();
  auto* output = app.add_option("-o,--output", options.output, "Write a new model, and leave this one and its edits")
                     ->option_text("OUT");
  app.add_flag("--in-place", options.in_place,
               "Patch the existing files, at the cost of the edits; not for edits that change a size")
      ->excludes(output);
  add_sidecar_option(app, options.sidecar);
  app.footer(
      "New files are checked before they take the place of the old. A commit that was\n"
      "interrupted is finished by running it again.\n\nExample:\n  onnxfs commit resnet50.onnx");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  require_no_folder(model, "commit");
  require_edits_in(options.sidecar);
  return commit_and_report(model, std::move(options));
}

}  // namespace onnxfs
