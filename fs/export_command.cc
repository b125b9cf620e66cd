#include "core/sidecar/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/bytes/utf8.h"
#include "core/sidecar/data_file_name.h"
#include "fs/arguments.h"
#include "fs/byte_size.h"
#include "fs/commands.h"
#include "fs/counted.h"
#include "fs/edited_model.h"
#include "fs/interruption.h"
#include "fs/progress_line.h"
#include "fs/standard_output.h"
#include "fs/tensor_file_names.h"
#include "fs/usage_error.h"

namespace onnxfs {

namespace {

struct Arguments {
  std::string path;
  std::string output;
  std::string sidecar;
  std::string data_file;  // "": one called after the output
  bool external = false;
  bool per_tensor = false;
  bool safetensors = false;
  ExportOptions options;
};

ExportReport export_as_asked(const EditedModel& model, const Arguments& arguments, const Progress& progress) {
  if (arguments.safetensors) {
    return export_safetensors(model.model(), model.edits(), model.tree().paths_for_listing(), arguments.output,
                              progress);
  }
  TensorFileNames names(model, arguments.output);
  const std::string data_file = arguments.data_file.empty()
                                    ? data_file_name(std::filesystem::path(arguments.output).filename().string(), 0)
                                    : arguments.data_file;
  const auto location_of = [&](uint32_t tensor) { return arguments.per_tensor ? names.take(tensor) : data_file; };
  return export_model(*model.model(), model.edits(), arguments.output, arguments.options, location_of, progress);
}

// Why a model that was to have data files has none; "" when it has some, or was to have none.
std::string why_no_data_files(const Arguments& arguments, const ExportReport& report) {
  if (!report.data_files.empty() || !(arguments.external || arguments.per_tensor)) return "";
  return fmt::format("; no tensor that may be moved is as large as {}: all stay inline",
                     counted(arguments.options.size_threshold, "byte"));
}

std::string report_text(const Arguments& arguments, const ExportReport& report) {
  std::string text = fmt::format("Wrote {} ({})", printable(report.output), byte_size_text(report.output_bytes));
  if (!report.data_files.empty()) {
    const size_t count = report.data_files.size();
    text += fmt::format(", and {} into {} ({})", counted(report.moved_tensors, "tensor"),
                        count == 1 ? printable(report.data_files.front()) : fmt::format("{} files beside it", count),
                        byte_size_text(report.data_bytes));
  }
  return text.append(why_no_data_files(arguments, report)).append("\n");
}

int export_and_report(const Arguments& arguments) {
  const auto model = EditedModel::open(arguments.path, arguments.sidecar, "onnxfs export");
  ExportReport report;
  {
    const Interruption interruption;
    ProgressLine line("exporting");
    report = export_as_asked(*model, arguments, [&](uint64_t done, uint64_t total) {
      line.show(done, total);
      interruption.check();
    });
  }
  print_out(report_text(arguments, report));
  return 0;
}

// What the parser cannot see; "" when nothing is wrong.
std::string complaint(const Arguments& arguments, bool tunes_data_files) {
  const bool has_data_files = arguments.external || arguments.per_tensor;
  const int ways = arguments.external + arguments.per_tensor + arguments.safetensors + arguments.options.all_in_model;
  if (ways != 1) {
    return "say one of --external, --per-tensor, --inline and --safetensors (a copy with the edits, arranged as the "
           "model is, is what onnxfs commit MODEL -o OUT writes)";
  }
  if (tunes_data_files && !has_data_files) {
    return "--size-threshold, --attributes and --align are for --external and --per-tensor";
  }
  if (!arguments.data_file.empty()) {
    try {
      require_portable_location(arguments.data_file);
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

}  // namespace

int export_command(int count, char** argument_values) {
  Arguments arguments;
  CLI::App app("Writes a model, with its edits, anew: its tensors beside it or in it.", "onnxfs export");
  app.add_option("MODEL|MNT", arguments.path, "A model file, or the folder that it is mounted at")->required();
  app.add_option("OUT", arguments.output, "The new file; what is there is never replaced")->required();
  auto* external = app.add_option("--external", arguments.data_file, "Tensors into one data file beside OUT (OUT.data)")
                       ->expected(0, 1)
                       ->option_text("[FILE]");
  app.add_flag("--per-tensor", arguments.per_tensor, "Each tensor into a data file of its own");
  app.add_flag("--inline", arguments.options.all_in_model, "All tensors into OUT, and no data files");
  app.add_flag("--safetensors", arguments.safetensors, "All tensors as one safetensors file");
  const std::vector<CLI::Option*> tuning{
      app.add_option("--size-threshold", arguments.options.size_threshold, "Smaller tensors stay in OUT (1024)")
          ->option_text("BYTES")
          ->check(whole_number(0, std::numeric_limits<uint64_t>::max())),
      app.add_flag("--attributes", arguments.options.attributes, "Tensors of nodes too, such as those of Constants"),
      app.add_option("--align", arguments.options.alignment, "Alignment in data files (4096; over 1 MiB 65536)")
          ->option_text("4096|65536")
          ->check(one_of({"4096", "65536"}))};
  add_sidecar_option(app, arguments.sidecar);
  app.footer(
      "One of --external, --per-tensor, --inline and --safetensors has to be said.\n"
      "Strings, and small tensors such as shapes, always stay in OUT.\n\n"
      "Example:\n  onnxfs export resnet50.onnx out.onnx --external weights.data");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  arguments.external = external->count() != 0;
  const bool tunes = std::ranges::any_of(tuning, [](const CLI::Option* option) { return option->count() != 0; });
  if (const std::string wrong = complaint(arguments, tunes); !wrong.empty()) throw UsageError(wrong);
  return export_and_report(arguments);
}

}  // namespace onnxfs
