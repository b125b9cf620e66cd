#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include "core/analysis/statistics.h"
#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/views/json_lines.h"
#include "core/views/tensor_json.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/edited_model.h"
#include "fs/histogram_drawing.h"
#include "fs/progress_line.h"
#include "fs/standard_output.h"
#include "fs/statistics_report.h"
#include "fs/tensor_selection.h"

namespace onnxfs {

namespace {

struct StatsArguments {
  std::string path, sidecar;
  std::vector<std::string> patterns;
  size_t bins = 0;
  bool as_json = false;
};

TensorStatistics statistics_of_tensor(const EditedModel& model, uint32_t index, Workers& workers) {
  const Tensor& tensor = model.tensor(index);
  const TensorEditPtr edit = model.edit(index);
  TensorStatistics result;
  result.path = model.path_of(index);
  result.dtype = dtype_word(tensor);
  result.shape = shape_json(tensor, edit.get());
  result.elements = tensor.elements;
  result.nbytes = payload_size(tensor, edit.get());
  try {
    const Rope payload = model.payload(index);
    if (tensor.data_type == string_type) {
      result.strings = string_statistics_of(payload, workers);
    } else {
      result.numbers = statistics_of(payload, tensor.type(), tensor.elements, workers);
      result.are_integers = NumberDecoder(tensor.type()).is_integer();
    }
  } catch (const Error& error) {
    result.problem = error.what();
  }
  return result;
}

// What is known of all of them together.
struct Totals {
  uint64_t tensors = 0, elements = 0, bytes = 0, with_non_finite = 0, broken = 0;

  void add(const TensorStatistics& tensor) {
    ++tensors;
    elements += tensor.elements;
    bytes += tensor.nbytes;
    with_non_finite += tensor.numbers && tensor.numbers->finite() != tensor.numbers->numbers;
    broken += !tensor.problem.empty();
  }
};

void print_totals(const Totals& totals) {
  if (totals.tensors < 2) return;
  const std::string broken = totals.broken == 0 ? "" : fmt::format("; {} broken", totals.broken);
  print_out(fmt::format("\n{} tensors, {} elements, {} bytes; {} with NaN or Inf{}\n", totals.tensors, totals.elements,
                        totals.bytes, totals.with_non_finite, broken));
}

int print_statistics(const StatsArguments& arguments) {
  const auto model = EditedModel::open(arguments.path, arguments.sidecar, "onnxfs stats");
  const std::string& name = model->subject().model;
  const auto selected = select_tensors(model->model()->catalog(), model->tree(), arguments.patterns, name);
  uint64_t total = 0;
  for (const uint32_t index : selected) total += payload_size(model->tensor(index), model->edit(index).get());
  Workers workers;
  Totals totals;
  ProgressLine line("reading");
  workers.on_progress = [&](uint64_t done) { line.show(done, total); };
  constexpr size_t default_bins = 64;
  const size_t width = terminal_width();
  if (arguments.as_json) print_out(fmt::format("{{\"model\":{},\"tensors\":[", json_quote(name)));
  for (const uint32_t index : selected) {
    const TensorStatistics tensor = statistics_of_tensor(*model, index, workers);
    line.wipe();
    if (arguments.as_json) {
      const size_t bins = arguments.bins == 0 ? default_bins : arguments.bins;
      print_out(fmt::format("{}\n{}", totals.tensors == 0 ? "" : ",", json_inline(statistics_json(tensor, bins))));
    } else {
      print_out(fmt::format("{}{}", totals.tensors == 0 ? "" : "\n", statistics_text(tensor, width, arguments.bins)));
    }
    totals.add(tensor);
    if (tensor.problem.empty()) continue;
    fmt::print(stderr, "onnxfs: {}: {}: {}\n", printable(name), tensor.path, tensor.problem);
  }
  if (arguments.as_json) print_out("\n]}\n");
  else print_totals(totals);
  return totals.broken == 0 ? 0 : 1;
}

}  // namespace

int stats_command(int count, char** argument_values) {
  StatsArguments arguments;
  constexpr size_t most_bins = 1024;
  CLI::App app("Prints what the numbers in tensors are like, and draws their histogram.", "onnxfs stats");
  app.add_option("MODEL|MNT", arguments.path, "The model file, or the folder that it is mounted at")->required();
  app.add_option("GLOB", arguments.patterns, "Tensors or folders, by their paths in a mount; all unless given");
  app.add_option("--bins", arguments.bins, "At most so many bins in a histogram")
      ->check(CLI::Range(size_t{1}, most_bins));
  app.add_flag("--json", arguments.as_json, "Print it as JSON");
  app.add_option("--sidecar", arguments.sidecar,
                 "The folder that keeps the edits; MODEL.sidecar unless said otherwise");
  app.footer(
      "min, max, mean, std and L2 are of the finite elements; of complex ones, of both parts. Edits are included.\n"
      "Exit status: 0, or 1 when a tensor is broken.\n\n"
      "Example:\n  onnxfs stats resnet50.onnx 'initializers/layer1.*.weight'");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  return print_statistics(arguments);
}

}  // namespace onnxfs
