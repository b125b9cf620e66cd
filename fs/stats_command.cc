#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <vector>

#include "core/analysis/statistics.h"
#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/views/json_lines.h"
#include "core/views/tensor_json.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/counted.h"
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

TensorStatistics header_of(const EditedModel& model, uint32_t index) {
  const Tensor& tensor = model.tensor(index);
  const TensorEditPtr edit = model.edit(index);
  TensorStatistics result;
  result.path = model.path_of(index);
  result.dtype = dtype_word(tensor);
  result.shape = shape_json(tensor, edit.get());
  result.elements = tensor.elements;
  result.nbytes = payload_size(tensor, edit.get());
  return result;
}

// Of some tensors, in their order.
std::vector<TensorStatistics> statistics_of_tensors(const EditedModel& model, std::span<const uint32_t> indices,
                                                    Workers& workers) {
  std::vector<TensorStatistics> results;
  std::vector<NumericPayload> payloads;
  std::vector<size_t> owners;  // of the payloads, in the results
  for (const uint32_t index : indices) {
    const Tensor& tensor = model.tensor(index);
    TensorStatistics& result = results.emplace_back(header_of(model, index));
    try {
      Rope payload = model.payload(index);
      if (tensor.data_type == string_type) {
        result.strings = string_statistics_of(payload, workers);
        continue;
      }
      result.are_integers = NumberDecoder(tensor.type()).is_integer();
      payloads.push_back({std::move(payload), tensor.type(), tensor.elements});
      owners.push_back(results.size() - 1);
    } catch (const Error& error) {
      result.problem = error.what();
    }
  }
  auto statistics = statistics_of(payloads, workers);
  for (size_t i = 0; i < owners.size(); ++i) {
    TensorStatistics& result = results[owners[i]];
    if (const Error* error = std::get_if<Error>(&statistics[i])) result.problem = error->what();
    else result.numbers = std::get<Statistics>(std::move(statistics[i]));
  }
  return results;
}

// Takes from the front as many tensors as are worth sharing out, and are told together.
std::vector<uint32_t> take_some(const EditedModel& model, std::span<const uint32_t>& rest) {
  constexpr uint64_t enough_bytes = 64 << 20;
  constexpr size_t most = 256;
  std::vector<uint32_t> some;
  for (uint64_t bytes = 0; bytes < enough_bytes && some.size() < most && !rest.empty(); rest = rest.subspan(1)) {
    some.push_back(rest.front());
    bytes += payload_size(model.tensor(rest.front()), model.edit(rest.front()).get());
  }
  return some;
}

// What is known of all of them together. A broken one is a tensor of no elements and bytes, as in a TensorList: what it
// claims is nowhere.
struct Totals {
  uint64_t tensors = 0, elements = 0, bytes = 0, with_non_finite = 0, broken = 0;

  void add(const TensorStatistics& tensor) {
    ++tensors;
    if (!tensor.problem.empty()) {
      ++broken;
      return;
    }
    elements += tensor.elements;
    bytes += tensor.nbytes;
    with_non_finite += tensor.numbers && tensor.numbers->finite() != tensor.numbers->numbers;
  }
};

void print_totals(const Totals& totals) {
  if (totals.tensors < 2) return;
  const std::string broken = totals.broken == 0 ? "" : fmt::format("; {} broken, of no bytes in sums", totals.broken);
  print_out(fmt::format("\n{}, {}, {}; {} with NaN or Inf{}\n", counted(totals.tensors, "tensor"),
                        counted(totals.elements, "element"), counted(totals.bytes, "byte"), totals.with_non_finite,
                        broken));
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
  const auto print = [&](const TensorStatistics& tensor) {
    if (arguments.as_json) {
      const size_t bins = arguments.bins == 0 ? default_bins : arguments.bins;
      print_out(fmt::format("{}\n{}", totals.tensors == 0 ? "" : ",", json_inline(statistics_json(tensor, bins))));
    } else {
      print_out(fmt::format("{}{}", totals.tensors == 0 ? "" : "\n", statistics_text(tensor, width, arguments.bins)));
    }
    totals.add(tensor);
    if (tensor.problem.empty()) return;
    fmt::print(stderr, "onnxfs: {}: {}: {}\n", printable(name), tensor.path, tensor.problem);
  };
  for (std::span<const uint32_t> rest = selected; !rest.empty();) {
    const auto tensors = statistics_of_tensors(*model, take_some(*model, rest), workers);
    line.wipe();
    std::ranges::for_each(tensors, print);
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
  app.add_option("MODEL|MNT", arguments.path, "A model file, or the folder that it is mounted at")->required();
  app.add_option("GLOB", arguments.patterns, "Tensors or folders, by path or name; * matches / too");
  app.add_option("--bins", arguments.bins, "At most so many bins in a histogram")
      ->option_text("1..1024")
      ->check(whole_number(1, most_bins));
  app.add_flag("--json", arguments.as_json, "Print it as JSON");
  add_sidecar_option(app, arguments.sidecar);
  app.footer(
      "min, max, mean, std and L2 are of the finite elements; of complex ones, of both\n"
      "parts. Edits are included.\n"
      "Exit status: 0, or 1 when a tensor is broken.\n\n"
      "Example:\n  onnxfs stats resnet50.onnx 'initializers/layer1.*.weight'");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  return print_statistics(arguments);
}

}  // namespace onnxfs
